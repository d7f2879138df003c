#include "lockstep/kernels/product.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lockstep::kernels {
namespace {

// A [rows, columns] operand, stored the other way round when `transposed`.
at::Tensor operand(int64_t rows, int64_t columns, bool transposed, at::ScalarType type) {
  return at::randn(transposed ? at::IntArrayRef{columns, rows} : at::IntArrayRef{rows, columns}).to(type);
}

at::Tensor wide(const at::Tensor& x, bool transposed = false) {
  const auto result = x.to(at::kDouble);
  return transposed ? result.t() : result;
}

TEST(Product, OfOperandsEitherWayRoundAddedOrWithABias) {
  for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const double tolerance = type == at::kDouble ? 1e-12 : type == at::kFloat ? 1e-5 : 5e-2;
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        const auto a = operand(5, 7, a_transposed, type), b = operand(7, 3, b_transposed, type);
        const auto right = wide(a, a_transposed).mm(wide(b, b_transposed));
        const auto out = at::empty({5, 3}, type), bias = at::randn({3}).to(type);
        product(out, {a, a_transposed}, {b, b_transposed});
        EXPECT_TRUE(at::allclose(wide(out), right, tolerance, tolerance)) << type;
        product(out, {a, a_transposed}, {b, b_transposed}, {.bias = bias});
        EXPECT_TRUE(at::allclose(wide(out), right + wide(bias), tolerance, tolerance)) << type;
        const auto sums = at::empty({5}, type);
        product(out, {a, a_transposed}, {b, b_transposed}, {.row_sums = sums});
        EXPECT_TRUE(at::allclose(wide(out), right, tolerance, tolerance)) << type;
        EXPECT_TRUE(at::allclose(wide(sums), wide(a, a_transposed).sum(1), tolerance, tolerance)) << type;
        const auto before = wide(out).clone();
        product(out, {a, a_transposed}, {b, b_transposed}, {.accumulate = true});
        EXPECT_TRUE(at::allclose(wide(out), before + right, 2 * tolerance, 2 * tolerance)) << type;
      }
    }
  }
}

TEST(Product, AddsUpInTheWideTypeWhereOutIs) {
  const auto a = operand(5, 700, true, at::kBFloat16), b = operand(700, 3, false, at::kBFloat16);
  const auto out = at::randn({5, 3});
  const auto right = wide(out) + wide(a, true).mm(wide(b));
  product(out, {a, true}, {b}, {.accumulate = true});
  EXPECT_TRUE(at::allclose(wide(out), right, 1e-4, 1e-4));
}

}  // namespace
}  // namespace lockstep::kernels
