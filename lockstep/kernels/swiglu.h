// The activation of a gated MLP (Shazeer, "GLU Variants Improve Transformer", 2020):
//
//   y = silu(gate) * up,   silu(x) = x * s(x),   s(x) = 1 / (1 + e^-x)
//
// and its gradient, which needs nothing but gate and up again:
//
//   d gate = dy * up * s(gate) * (1 + gate * (1 - s(gate))),   d up = dy * silu(gate)
//
// All of one shape [..., F], on one device: bfloat16 (computed in float32, rounded once), float32 or float64.
// gate and up: alike in memory, rows of F at equal distances, as contiguous tensors and the columns of one
// are (kernels/side_by_side.h); the others contiguous. Bound by memory on a GPU: 3 tensors forward, 6
// backward. Nothing is recorded for autograd: nn::swiglu_linear does. Dispatched as the operators
// lockstep::swiglu and lockstep::swiglu_backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace lockstep::kernels {

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

// The gradients of gate and up, side by side where they are, and y once more, which the layer behind wants
// for its weight's gradient.
std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& y_grad,
                                                               const at::Tensor& gate, const at::Tensor& up);

}  // namespace lockstep::kernels
