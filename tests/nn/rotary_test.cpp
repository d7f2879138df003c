#include "lockstep/nn/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "lockstep/kernels/side_by_side.h"

namespace lockstep::nn {
namespace {

// x: [B, H, T, Dh], as queries.
at::Tensor turned(const at::Tensor& x, const RotaryTable& table) {
  const auto in_line = x.transpose(1, 2).flatten(2);
  return rotary_heads(in_line, in_line, in_line, table, x.size(-1)).query;
}

TEST(Rotary, TurnsChannelIWithChannelIPlusHalf) {
  const auto positions = at::tensor({3}, at::kLong).unsqueeze(0);
  const auto table = rotary_table(positions, 4, 100.0, at::kDouble);
  const auto y = turned(at::tensor({1., 2., 5., 7.}, at::kDouble).view({1, 1, 1, 4}), table);
  // Frequencies 1 and 100^(-1/2) = 0.1 at position 3.
  const auto turned_pair = [](double x, double y, double angle) {
    return std::pair{x * std::cos(angle) - y * std::sin(angle), y * std::cos(angle) + x * std::sin(angle)};
  };
  const auto [x0, y0] = turned_pair(1, 5, 3.0);
  const auto [x1, y1] = turned_pair(2, 7, 0.3);
  const auto expected = at::tensor({x0, x1, y0, y1}, at::kDouble);
  EXPECT_TRUE(at::allclose(y.flatten(), expected, 0, 1e-12));
}

TEST(Rotary, ScoresDependOnTheDistanceAlone) {
  const auto query = at::randn({1, 2, 1, 8}, at::kDouble);
  const auto key = at::randn({1, 2, 1, 8}, at::kDouble);
  const auto score = [&](int64_t query_position, int64_t key_position) {
    const auto at_position = [](int64_t p) {
      return rotary_table(at::tensor({p}, at::kLong).unsqueeze(0), 8, 10000.0, at::kDouble);
    };
    return (turned(query, at_position(query_position)) * turned(key, at_position(key_position))).sum();
  };
  EXPECT_TRUE(at::allclose(score(9, 4), score(105, 100), 1e-10));
}

// A turn keeps lengths, so the gradient is the gradient of the output turned back.
TEST(Rotary, GradientsAreTurnedBack) {
  const auto positions = at::arange(7, at::kLong).expand({2, 7});
  const auto table = rotary_table(positions, 6, 100.0, at::kDouble);
  const auto x = at::randn({2, 7, 3, 6}, at::kDouble).set_requires_grad(true);  // as a product leaves heads
  const auto y = turned(x.transpose(1, 2), table);
  const auto weights = at::randn_like(y);
  (y * weights).sum().backward();
  const auto half = [](const at::Tensor& t, int64_t i) { return t.narrow(-1, i * 3, 3); };
  const auto back = at::cat({half(weights, 0) * table.cos + half(weights, 1) * table.sin,
                             half(weights, 1) * table.cos - half(weights, 0) * table.sin},
                            -1);
  EXPECT_TRUE(at::allclose(x.grad(), back.transpose(1, 2), 0, 1e-12));
}

// As the projections leave queries, keys and values, and want their gradients.
TEST(Rotary, GradientsOfColumnsAreColumns) {
  const auto table = rotary_table(at::arange(5, at::kLong).unsqueeze(0), 4, 100.0, at::kDouble);
  const auto whole = at::randn({2, 5, 16}, at::kDouble).set_requires_grad(true);
  const auto parts = whole.split_with_sizes({8, 4, 4}, -1);
  std::vector<at::Tensor> gradients(3);
  for (size_t i = 0; i < 3; ++i)
    parts[i].register_hook([&gradients, i](const at::Tensor& gradient) { gradients[i] = gradient; });
  const auto heads = rotary_heads(parts[0], parts[1], parts[2], table, 4);
  const auto value = parts[2].unflatten(-1, {1, 4}).transpose(1, 2);
  EXPECT_TRUE(at::equal(heads.value, value));
  const auto weights = at::randn_like(heads.query), others = at::randn_like(value);
  ((heads.query * weights).sum() + ((heads.key + heads.value) * others).sum()).backward();
  EXPECT_TRUE(kernels::joined_columns(gradients).has_value());
  const auto apart = at::randn({2, 2, 5, 4}, at::kDouble).set_requires_grad(true);
  (turned(apart, table) * weights).sum().backward();
  EXPECT_TRUE(at::equal(gradients[0], apart.grad().transpose(1, 2).flatten(2)));
  EXPECT_TRUE(at::equal(gradients[2], others.transpose(1, 2).flatten(2)));
  EXPECT_FALSE(at::equal(gradients[1], gradients[2]));
}

TEST(Rotary, OfBfloat16RoundsOnce) {
  const auto table = rotary_table(at::arange(9, at::kLong).unsqueeze(0), 8, 100.0, at::kBFloat16);
  const RotaryTable wide{table.cos.to(at::kDouble), table.sin.to(at::kDouble)};
  const auto x = at::randn({2, 3, 9, 8}).to(at::kBFloat16);
  const auto right = turned(x.to(at::kDouble), wide);
  EXPECT_TRUE(at::allclose(turned(x, table).to(at::kDouble), right, 0x1p-8, 1e-6));
}

TEST(Rotary, PackedDocumentsStartAnew) {
  const auto positions = at::tensor({0, 1, 2, 0, 1, 2}, at::kLong).unsqueeze(0);
  const auto table = rotary_table(positions, 4, 10000.0, at::kFloat);
  EXPECT_TRUE(at::equal(table.cos.narrow(2, 0, 3), table.cos.narrow(2, 3, 3)));
}

TEST(Rotary, Bfloat16TablesHoldRoundedFloat32Angles) {
  const auto positions = at::arange(1000, at::kLong).unsqueeze(0);
  const auto wide = rotary_table(positions, 16, 10000.0, at::kFloat);
  const auto narrow = rotary_table(positions, 16, 10000.0, at::kBFloat16);
  EXPECT_TRUE(at::equal(narrow.sin, wide.sin.to(at::kBFloat16)));
}

}  // namespace
}  // namespace lockstep::nn
