// A matrix product added to a sum of higher precision: the gradient of a weight, over many pieces of a batch.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::kernels {

// sum += a^T b. a: [K, M], b: [K, N], bfloat16, float32 or float64; sum: [M, N], float32 for bfloat16, else
// of their type; all contiguous, on one device. On a GPU one call of cuBLAS, which rounds nothing to
// bfloat16 on the way: 2 K M N operations, and sum is read and written once. Dispatched as the operator
// lockstep::add_product_.
void add_product(at::Tensor sum, const at::Tensor& a, const at::Tensor& b);

}  // namespace lockstep::kernels
