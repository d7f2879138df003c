#include "lockstep/nn/rms_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace lockstep::nn {
namespace {

constexpr double kEps = 1e-2;  // large enough to matter

at::Tensor leaf(const at::Tensor& x, at::ScalarType dtype) {
  return x.to(dtype).detach().clone().set_requires_grad(true);
}

// The formula, for autograd to derive.
at::Tensor formula(const at::Tensor& x, const at::Tensor& weight) {
  return x * (x.square().mean(-1, /*keepdim=*/true) + kEps).rsqrt() * weight;
}

struct Tolerance {
  at::ScalarType dtype;
  double absolute;
};

class RmsNormOf : public testing::TestWithParam<Tolerance> {
 protected:
  void expect_near(const at::Tensor& got, const at::Tensor& right) {
    EXPECT_EQ(got.scalar_type(), GetParam().dtype);
    EXPECT_TRUE(at::allclose(got.to(at::kDouble), right, 0, GetParam().absolute))
        << (got.to(at::kDouble) - right).abs().max().item<double>();
  }
};

TEST_P(RmsNormOf, AndItsGradientsEqualTheFormula) {
  const auto dtype = GetParam().dtype;
  const auto x = leaf(at::randn({3, 5, 33}), dtype), weight = leaf(at::randn({33}), dtype);
  const auto y_grad = at::randn({3, 5, 33}).to(dtype);
  const auto y = rms_norm(x, weight, kEps);
  y.backward(y_grad);
  const auto wide_x = leaf(x, at::kDouble), wide_weight = leaf(weight, at::kDouble);
  const auto right = formula(wide_x, wide_weight);
  right.backward(y_grad.to(at::kDouble));
  expect_near(y, right);
  expect_near(x.grad(), wide_x.grad());
  expect_near(weight.grad(), wide_weight.grad());
}

// Both results are used, so gradients come to the sum on both ways.
TEST_P(RmsNormOf, ASumPassesOnTheSumToo) {
  const auto dtype = GetParam().dtype;
  const auto x = leaf(at::randn({7, 33}), dtype), residual = leaf(at::randn({7, 33}), dtype);
  const auto weight = leaf(at::randn({33}), dtype);
  const auto y_grad = at::randn({7, 33}).to(dtype), h_grad = at::randn({7, 33}).to(dtype);
  const auto [h, y] = add_rms_norm(x, residual, weight, kEps);
  ((h * h_grad).sum() + (y * y_grad).sum()).backward();
  const auto wide_x = leaf(x, at::kDouble), wide_residual = leaf(residual, at::kDouble);
  const auto wide_weight = leaf(weight, at::kDouble);
  const auto right_h = wide_x + wide_residual, right = formula(right_h, wide_weight);
  ((right_h * h_grad).sum() + (right * y_grad).sum()).backward();
  expect_near(h, right_h);
  expect_near(y, right);
  expect_near(x.grad(), wide_x.grad());
  expect_near(weight.grad(), wide_weight.grad());
  EXPECT_TRUE(at::equal(residual.grad(), x.grad()));
}

INSTANTIATE_TEST_SUITE_P(Types, RmsNormOf,
                         testing::Values(Tolerance{at::kDouble, 1e-12}, Tolerance{at::kFloat, 1e-4},
                                         Tolerance{at::kBFloat16, 0.2}));  // sums over 15 rows, in bf16

TEST(RmsNormOfASum, WorksWhenOneResultIsNotUsed) {
  const auto x = leaf(at::randn({2, 4}), at::kDouble), weight = leaf(at::randn({4}), at::kDouble);
  const auto residual = at::randn({2, 4}, at::kDouble);
  std::get<0>(add_rms_norm(x, residual, weight, kEps)).sum().backward();
  EXPECT_TRUE(at::allclose(x.grad(), x.detach() * 0 + 1));
  EXPECT_TRUE(at::allclose(weight.grad(), weight.detach() * 0));
}

}  // namespace
}  // namespace lockstep::nn
