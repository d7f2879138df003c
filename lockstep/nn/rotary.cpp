#include "lockstep/nn/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/rotary.h"
#include "lockstep/kernels/side_by_side.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor with_dense_channels(const at::Tensor& x) { return x.stride(-1) == 1 ? x : x.contiguous(); }

// [B, T, heads * Dh] -> [B, heads, T, Dh]
at::Tensor heads_of(const at::Tensor& x, int64_t head_dim) {
  return x.unflatten(-1, {-1, head_dim}).transpose(1, 2);
}

class Rotary : public torch::autograd::Function<Rotary> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const at::Tensor& cos, const at::Tensor& sin,
                               int64_t head_dim) {
    context->save_for_backward({cos, sin});
    context->saved_data["side_by_side"] = kernels::joined_columns({query, key, value}).has_value();
    variable_list from, heads;
    for (const at::Tensor& x : {query, key, value}) {
      from.push_back(heads_of(x, head_dim));
      heads.push_back(heads_of(at::empty(x.sizes(), x.options()), head_dim));
    }
    kernels::rotary(heads, from, cos, sin, /*inverse=*/false);
    return heads;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto table = context->get_saved_variables();
    const int64_t head_dim = grads[0].size(-1);
    std::vector<int64_t> widths;
    for (const at::Tensor& grad : grads) widths.push_back(grad.size(1) * head_dim);
    const auto in_line = [&](int64_t width) {
      return at::empty({grads[0].size(0), grads[0].size(2), width}, grads[0].options());
    };
    variable_list result;
    if (context->saved_data["side_by_side"].toBool()) {
      result = in_line(widths[0] + widths[1] + widths[2]).split_with_sizes(widths, -1);
    } else {
      for (const int64_t width : widths) result.push_back(in_line(width));
    }
    variable_list to;
    for (const at::Tensor& x : result) to.push_back(heads_of(x, head_dim));
    for (at::Tensor& grad : grads) grad = with_dense_channels(grad);
    kernels::rotary(to, grads, table[0], table[1], /*inverse=*/true);
    result.insert(result.end(), {at::Tensor(), at::Tensor(), at::Tensor()});
    return result;
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

Heads rotary_heads(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                   const RotaryTable& table, int64_t head_dim) {
  const auto heads = Rotary::apply(query, key, value, table.cos, table.sin, head_dim);
  return {heads[0], heads[1], heads[2]};
}

}  // namespace lockstep::nn
