#include "lockstep/comm/ordered_sum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lockstep::comm {
namespace {

at::Tensor sum_of(const at::Tensor& parts) {
  const auto out = at::empty({parts.size(1)}, parts.options());
  ordered_sum(out, parts);
  return out;
}

TEST(OrderedSum, AddsNeighboursFirst) {
  // 1e8 + 1 is 1e8 in float32: the order shows in the result.
  const auto parts = at::tensor({1e8F, -1e8F, 1.0F, 1.0F}).view({4, 1});
  EXPECT_EQ(sum_of(parts).item<float>(), 2.0F);
  const auto swapped = at::tensor({1e8F, 1.0F, -1e8F, 1.0F}).view({4, 1});
  EXPECT_EQ(sum_of(swapped).item<float>(), 0.0F);
}

TEST(OrderedSum, OfTwoHalvesSummedFirstIsTheSame) {
  const auto parts = at::randn({8, 5000}, at::kFloat);
  const auto halves = at::stack({sum_of(parts.narrow(0, 0, 4)), sum_of(parts.narrow(0, 4, 4))});
  EXPECT_TRUE(at::equal(sum_of(halves), sum_of(parts)));
}

TEST(OrderedSum, MatchesPlainSumsForAnyNumberOfParts) {
  for (int64_t num_parts = 1; num_parts <= 7; ++num_parts) {
    const auto parts = at::randn({num_parts, 2500}, at::kDouble);
    EXPECT_TRUE(at::allclose(sum_of(parts), parts.sum(0), 1e-12, 1e-12)) << num_parts;
  }
}

}  // namespace
}  // namespace lockstep::comm
