// Small tensors that the host makes for the device: tokens, positions, targets.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::nn {

// x on `device`. To a GPU by way of pinned memory, so that the host goes on at once: a copy from pageable
// memory may wait for all that was enqueued before it (CUDA Runtime API, "API synchronization behavior").
at::Tensor to_device(const at::Tensor& x, c10::Device device);

}  // namespace lockstep::nn
