#include "lockstep/nn/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/rotary.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor with_dense_channels(const at::Tensor& x) { return x.stride(-1) == 1 ? x : x.contiguous(); }

class Rotary : public torch::autograd::Function<Rotary> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& cos,
                            const at::Tensor& sin) {
    context->save_for_backward({cos, sin});
    return kernels::rotary(with_dense_channels(x), cos, sin, /*inverse=*/false);
  }

  static variable_list backward(AutogradContext* context, variable_list y_grad) {
    const auto table = context->get_saved_variables();
    return {kernels::rotary(with_dense_channels(y_grad[0]), table[0], table[1], /*inverse=*/true), {}, {}};
  }
};

}  // namespace

RotaryTable rotary_table(const at::Tensor& positions, int64_t head_dim, double theta, at::ScalarType dtype) {
  LOCKSTEP_CHECK(positions.dim() == 2) << "positions must be [B, T]";
  LOCKSTEP_CHECK(head_dim % 2 == 0) << "head_dim " << head_dim;
  const auto angle_type = dtype == at::kDouble ? at::kDouble : at::kFloat;
  const auto exponent =
      at::arange(0, head_dim, 2, positions.options().dtype(angle_type)) / static_cast<double>(head_dim);
  const auto frequency = at::pow(at::Scalar(theta), exponent).reciprocal();  // [Dh/2]
  const auto angle = positions.to(angle_type).unsqueeze(1).unsqueeze(-1) * frequency;
  return {angle.cos().to(dtype).contiguous(), angle.sin().to(dtype).contiguous()};
}

at::Tensor apply_rotary(const at::Tensor& x, const RotaryTable& table) {
  return Rotary::apply(x, table.cos, table.sin);
}

}  // namespace lockstep::nn
