// Products where there is no plan for them: on the CPU, and on a GPU in float32 and float64.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace lockstep::kernels {

// As kernels::product (product.h), by at::mm, at::addmm and at::sum. left: [m, k], right: [k, n], in any
// strides.
void product_by_torch(at::Tensor& out, const at::Tensor& left, const at::Tensor& right, bool accumulate,
                      const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& row_sums);

}  // namespace lockstep::kernels
