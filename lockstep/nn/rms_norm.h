// RMSNorm, alone and of a sum, with gradients (kernels/rms_norm.h has the formulas).
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep::nn {

// x: [..., D]; weight: [D], of the same type. Keeps x and one number a row for the backward pass. First
// derivatives only.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// h = x + residual and its norm: (h, y). Keeps h; x and residual have one gradient, which the backward pass
// makes in one go from those of h and y.
std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& x, const at::Tensor& residual,
                                                const at::Tensor& weight, double eps);

}  // namespace lockstep::nn
