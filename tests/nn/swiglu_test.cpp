#include "lockstep/nn/swiglu.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

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
       {Tolerance{at::kDouble, 1e-13}, {at::kFloat, 1e-5}, {at::kBFloat16, 4e-2}}) {
    const auto gate = leaf(at::randn({3, 5, 7}, at::kDouble) * 3, dtype);
    const auto up = leaf(at::randn({3, 5, 7}, at::kDouble), dtype);
    const auto y_grad = at::randn({3, 5, 7}, at::kDouble).to(dtype);
    const auto y = swiglu(gate, up);
    y.backward(y_grad);
    const auto wide_gate = leaf(gate, at::kDouble), wide_up = leaf(up, at::kDouble);
    const auto right = at::silu(wide_gate) * wide_up;
    right.backward(y_grad.to(at::kDouble));
    EXPECT_EQ(y.scalar_type(), dtype);
    EXPECT_TRUE(at::allclose(y.to(at::kDouble), right, 0, tolerance)) << dtype;
    EXPECT_TRUE(at::allclose(gate.grad().to(at::kDouble), wide_gate.grad(), 0, tolerance)) << dtype;
    EXPECT_TRUE(at::allclose(up.grad().to(at::kDouble), wide_up.grad(), 0, tolerance)) << dtype;
  }
}

TEST(Swiglu, StaysFiniteWhereTheExponentialDoesNot) {
  const auto y = swiglu(at::tensor({-1e4, 1e4}, at::kFloat), at::tensor({2.0, 2.0}, at::kFloat));
  EXPECT_TRUE(at::allclose(y, at::tensor({0.0, 2e4}, at::kFloat)));
}

}  // namespace
}  // namespace lockstep::nn
