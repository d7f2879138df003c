// The norm of a sharded gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::fsdp {

enum class NormSum {
  kPlain,  // read once, added in float64: the same bits from the same sharding. Squares of float64 overflow
           // early
  kExact,  // added exactly (kernels/square_sum.h): the same bits however it is sharded; reads twice
};

// The 2-norm over the elements of all tensors on all ranks; infinite or NaN on every rank when an element on
// any rank is. Collective over `comm`. The tensors: contiguous, bfloat16, float32 or float64, on `device`;
// when exact at most kernels::kMaxSquares elements on all ranks together. Waits for the device, twice when
// exact.
double gradient_norm(const std::vector<at::Tensor>& gradients, c10::Device device, comm::Communicator& comm,
                     NormSum sum);

// What gradients of that norm are multiplied by so that it is at most `max_norm`, as
// torch.nn.utils.clip_grad_norm_ does: max_norm / (norm + 1e-6), at most 1; 1 where max_norm is 0.
double clip_scale(double norm, double max_norm);

}  // namespace lockstep::fsdp
