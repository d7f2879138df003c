// out = x * factor, rounded once to out's type: what a gradient that was summed in float32 becomes.
//
// x, out: [n...], of the same sizes, contiguous, on one device; float32 to bfloat16, or both of one type of
// bfloat16 (computed in float32), float32 and float64. factor: a scalar in float32, or float64 for float64,
// on the same device. Bound by memory on a GPU: one read, one write. Nothing is recorded for autograd.
// Dispatched as the operator lockstep::scaled_.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::kernels {

void scaled(at::Tensor out, const at::Tensor& x, const at::Tensor& factor);

}  // namespace lockstep::kernels
