// RMSNorm (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019) of a sum of two tensors, as it
// stands in a pre-norm decoder, over rows of D elements:
//
//   h = x + residual              rounded to x's type; h = x without a residual
//   r = 1 / sqrt(mean(h^2) + eps)
//   y = h * r * w
//
// and, with g the gradient of y and h_grad the one that reaches h past the norm,
//
//   dh = h_grad + r * (w g - h r * mean(w g * h r))       the gradient of x and of residual
//   dw = sum over rows of g * h * r
//
// x, residual, h, y: [..., D], N rows in all; w: [D]; contiguous and of one type: bfloat16, float32 or
// float64; r: [...]; it, and all arithmetic, is float32, or float64 for float64. The sum over rows is taken
// in an order that depends on N and D alone, so dw has the same bits in every run. Bound by memory on a GPU:
// forward 2 or 4 tensors, backward 3 or 4; D is at most 16384 there. Nothing is recorded for autograd:
// nn::rms_norm does. Dispatched as the operators lockstep::rms_norm and lockstep::rms_norm_backward_.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace lockstep::kernels {

// y, h (x itself without a residual) and r.
std::tuple<at::Tensor, at::Tensor, at::Tensor> rms_norm(const at::Tensor& x,
                                                        const std::optional<at::Tensor>& residual,
                                                        const at::Tensor& weight, double eps);

// dh; dw is written to `weight_grad`, which is like w.
at::Tensor rms_norm_backward(at::Tensor weight_grad, const at::Tensor& y_grad,
                             const std::optional<at::Tensor>& h_grad, const at::Tensor& h,
                             const at::Tensor& weight, const at::Tensor& r);

}  // namespace lockstep::kernels
