// The norm of a sharded gradient, with the same bits however it is sharded.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::fsdp {

// The 2-norm over the elements of all tensors on all ranks, by exact addition (kernels/square_sum.h);
// infinite or NaN on every rank when an element on any rank is. Collective over `comm`. The tensors:
// contiguous, bfloat16, float32 or float64, on `device`; at most kernels::kMaxSquares elements on all ranks
// together. Reads them twice: for the largest and for the sum. Waits for the device.
double gradient_norm(const std::vector<at::Tensor>& gradients, c10::Device device, comm::Communicator& comm);

// What gradients of that norm are multiplied by so that it is at most `max_norm`, as
// torch.nn.utils.clip_grad_norm_ does: max_norm / (norm + 1e-6), at most 1; 1 where max_norm is 0.
double clip_scale(double norm, double max_norm);

}  // namespace lockstep::fsdp
