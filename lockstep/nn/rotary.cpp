#include "lockstep/nn/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>

#include "lockstep/base/check.h"

namespace lockstep::nn {

RotaryTable rotary_table(const at::Tensor& positions, int64_t head_dim, double theta, at::ScalarType dtype) {
  LOCKSTEP_CHECK(positions.dim() == 2) << "positions must be [B, T]";
  LOCKSTEP_CHECK(head_dim % 2 == 0) << "head_dim " << head_dim;
  const auto angle_type = dtype == at::kDouble ? at::kDouble : at::kFloat;
  const auto exponent =
      at::arange(0, head_dim, 2, positions.options().dtype(angle_type)) / static_cast<double>(head_dim);
  const auto frequency = at::pow(at::Scalar(theta), exponent).reciprocal();  // [Dh/2]
  const auto angle = positions.to(angle_type).unsqueeze(1).unsqueeze(-1) * frequency;
  return {angle.cos().to(dtype), angle.sin().to(dtype)};
}

at::Tensor apply_rotary(const at::Tensor& x, const RotaryTable& table) {
  const int64_t half = x.size(-1) / 2;
  const auto first = x.narrow(-1, 0, half);
  const auto second = x.narrow(-1, half, half);
  return at::cat({first * table.cos - second * table.sin, second * table.cos + first * table.sin}, -1);
}

}  // namespace lockstep::nn
