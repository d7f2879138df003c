#include "lockstep/nn/swiglu.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "lockstep/kernels/side_by_side.h"
#include "lockstep/kernels/swiglu.h"

namespace lockstep::nn {
namespace {

at::Tensor leaf(const at::Tensor& x, at::ScalarType dtype) {
  return x.to(dtype).detach().clone().set_requires_grad(true);
}

struct Tolerance {
  at::ScalarType dtype;
  double absolute;
};

// Against torch's own operations in float64, from the same rounded inputs.
TEST(Swiglu, AndItsGradientsEqualTheFormula) {
  for (const auto& [dtype, tolerance] :
       {Tolerance{at::kDouble, 1e-13}, {at::kFloat, 1e-5}, {at::kBFloat16, 2e-2}}) {
    const auto gate = leaf(at::randn({3, 5, 7}, at::kDouble) * 3, dtype);
    const auto up = leaf(at::randn({3, 5, 7}, at::kDouble), dtype);
    for (const bool with_bias : {false, true}) {
      Linear down(7, 4, with_bias, at::TensorOptions(dtype));
      const at::NoGradGuard no_grad;
      for (auto& parameter : down->parameters()) parameter.normal_();
      const at::AutoGradMode grad(true);
      const auto out_grad = at::randn({3, 5, 4}, at::kDouble).to(dtype);
      const auto out = swiglu_linear(gate, up, down);
      gate.mutable_grad().reset();
      up.mutable_grad().reset();
      out.backward(out_grad);
      const auto wide_gate = leaf(gate, at::kDouble), wide_up = leaf(up, at::kDouble);
      const auto wide_weight = leaf(down->weight, at::kDouble);
      auto right = at::linear(at::silu(wide_gate) * wide_up, wide_weight);
      if (with_bias) right = right + down->bias.detach().to(at::kDouble);
      right.backward(out_grad.to(at::kDouble));
      EXPECT_EQ(out.scalar_type(), dtype);
      const auto expect_near = [&](const char* what, const at::Tensor& got, const at::Tensor& expected) {
        const double difference = (got.to(at::kDouble) - expected).abs().max().item<double>();
        EXPECT_LE(difference, tolerance * expected.abs().max().item<double>()) << what << " " << dtype;
      };
      expect_near("out", out, right);
      expect_near("gate", gate.grad(), wide_gate.grad());
      expect_near("up", up.grad(), wide_up.grad());
      expect_near("weight", down->weight.grad(), wide_weight.grad());
      if (with_bias)
        expect_near("bias", down->bias.grad(), out_grad.to(at::kDouble).sum(at::IntArrayRef{0, 1}));
    }
  }
}

TEST(Swiglu, TakesColumnsAndGivesTheirGradientsAsColumns) {
  const auto both = at::randn({3, 5, 14}, at::kDouble).split_with_sizes({7, 7}, -1);
  const auto gate = both[0].contiguous(), up = both[1].contiguous(),
             y_grad = at::randn({3, 5, 7}, at::kDouble);
  EXPECT_TRUE(at::allclose(kernels::swiglu(both[0], both[1]), kernels::swiglu(gate, up), 1e-14));
  const auto [gate_grad, up_grad, y] = kernels::swiglu_backward(y_grad, both[0], both[1]);
  const auto [right_gate, right_up, right_y] = kernels::swiglu_backward(y_grad, gate, up);
  EXPECT_TRUE(kernels::joined_columns({gate_grad, up_grad}).has_value());
  EXPECT_TRUE(right_gate.is_contiguous() && y.is_contiguous());
  EXPECT_TRUE(at::allclose(gate_grad, right_gate, 1e-14));
  EXPECT_TRUE(at::allclose(up_grad, right_up, 1e-14));
  EXPECT_TRUE(at::allclose(y, right_y, 1e-14));
}

TEST(Swiglu, StaysFiniteWhereTheExponentialDoesNot) {
  const auto y = kernels::swiglu(at::tensor({-1e4, 1e4}, at::kFloat), at::tensor({2.0, 2.0}, at::kFloat));
  EXPECT_TRUE(at::allclose(y, at::tensor({0.0, 2e4}, at::kFloat)));
}

}  // namespace
}  // namespace lockstep::nn
