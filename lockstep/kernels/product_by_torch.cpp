#include "lockstep/kernels/product_by_torch.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

namespace lockstep::kernels {

void product_by_torch(at::Tensor& out, const at::Tensor& left, const at::Tensor& right, bool accumulate,
                      const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& row_sums) {
  const auto type = out.scalar_type();  // wider than the operands' at times
  if (accumulate) {
    out.addmm_(left.to(type), right.to(type));
  } else if (bias) {
    at::addmm_out(out, *bias, left.to(type), right.to(type));
  } else {
    at::mm_out(out, left.to(type), right.to(type));
  }
  if (!row_sums) return;
  at::Tensor sums = *row_sums;
  at::sum_out(sums, left.to(type), at::IntArrayRef{1});
}

}  // namespace lockstep::kernels
