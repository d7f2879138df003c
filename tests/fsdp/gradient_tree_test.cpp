#include "lockstep/fsdp/gradient_tree.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/comm/ordered_sum.h"

namespace lockstep::fsdp {
namespace {

at::Tensor ordered_sum_of(const at::Tensor& parts) {
  const auto sum = at::empty({parts.size(1)});
  comm::ordered_sum(sum, parts);
  return sum;
}

// parts: [M, n]. As W ranks do it: sums over ranks at each i, then the tree over i.
at::Tensor tree_of(const at::Tensor& parts, int64_t num_ranks) {
  GradientTree tree;
  for (int64_t i = 0; i < parts.size(0) / num_ranks; ++i) {
    tree.add(ordered_sum_of(parts.narrow(0, i * num_ranks, num_ranks)));
  }
  return tree.take();
}

TEST(GradientTree, IsTheOrderedSumOfAllMicroBatchesForAnyPowerOfTwoOfRanks) {
  for (const int64_t micro_batches : {1, 2, 3, 5, 6, 8, 12, 20, 24, 32}) {
    const auto parts = at::randn({micro_batches, 1001});
    const auto want = ordered_sum_of(parts);
    for (int64_t num_ranks = 1; micro_batches % num_ranks == 0; num_ranks *= 2) {
      EXPECT_TRUE(at::equal(tree_of(parts, num_ranks), want)) << micro_batches << " over " << num_ranks;
    }
  }
}

TEST(GradientTree, IsEmptyOnceTaken) {
  GradientTree tree;
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 3; ++i) tree.add(at::ones({4}));
    EXPECT_TRUE(at::equal(tree.take(), at::full({4}, 3.0)));
  }
}

// -0 + -0 is -0, which adding to a zeroed sum would lose.
TEST(GradientTree, KeepsTheSignOfZero) {
  GradientTree tree;
  for (int i = 0; i < 3; ++i) tree.add(at::full({1}, -0.0));
  EXPECT_TRUE(tree.take().signbit().item<bool>());
}

}  // namespace
}  // namespace lockstep::fsdp
