// Rotary position embedding of an attention's queries and keys, from tables of cosine and sine (nn/rotary.h
// has the convention):
//
//   y[i]          = x[i] * cos[i] - x[i + Dh/2] * sin[i]
//   y[i + Dh/2]   = x[i + Dh/2] * cos[i] + x[i] * sin[i]          0 <= i < Dh/2
//
// and with -sin the way back, which is also the gradient. bfloat16 (computed in float32, rounded once),
// float32 or float64. Bound by memory on a GPU: x read and y written once; the table stays in the cache.
//
// Values come along as they are, so that one kernel takes all heads from where a product left them to where
// attention reads them, and their gradients back: at few tokens a kernel's start takes as long as its bytes.
//
// Out of place: the tensor turned is the output of a product, which nobody keeps, so writing over it would
// save no byte and cost autograd a copy of the gradient. The bias of queries and keys is not added here
// either: the product does that in its epilogue for nothing.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::kernels {

// y, x: queries, keys and values, each [B, heads, T, Dh], Dh even, their last dims dense, y apart from x in
// memory; cos, sin: [B or 1, 1, T, Dh/2], contiguous, of x's type. Nothing is recorded for autograd:
// nn::rotary_heads does. Dispatched as the operator lockstep::rotary_.
void rotary(at::TensorList y, at::TensorList x, const at::Tensor& cos, const at::Tensor& sin, bool inverse);

}  // namespace lockstep::kernels
