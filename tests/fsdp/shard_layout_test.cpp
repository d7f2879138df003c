#include "lockstep/fsdp/shard_layout.h"

#include <gtest/gtest.h>

namespace lockstep::fsdp {
namespace {

TEST(ShardLayout, SlicesCoverEveryElementOnce) {
  for (int num_shards = 1; num_shards <= 7; ++num_shards) {
    const ShardLayout layout({{"a", {5}, 5}, {"b", {1}, 1}, {"c", {3, 7}, 21}}, num_shards);
    std::vector<std::vector<int>> seen{std::vector<int>(5), std::vector<int>(1), std::vector<int>(21)};
    for (int shard = 0; shard < num_shards; ++shard) {
      for (const auto& slice : layout.slices_of(shard)) {
        EXPECT_LE(slice.shard_offset + slice.length, layout.shard_numel());
        for (int64_t i = 0; i < slice.length; ++i) ++seen[slice.parameter][slice.parameter_offset + i];
      }
    }
    for (const auto& parameter : seen) {
      for (const int count : parameter) EXPECT_EQ(count, 1) << num_shards << " shards";
    }
  }
}

TEST(ShardLayout, AnAlignmentLeavesGapsThatBelongToNoParameter) {
  const ShardLayout layout({{"a", {5}, 5}, {"b", {1}, 1}, {"c", {21}, 21}}, 2, /*alignment=*/8);
  EXPECT_EQ(layout.parameters()[1].flat_offset, 8);
  EXPECT_EQ(layout.parameters()[2].flat_offset, 16);
  EXPECT_EQ(layout.numel(), 27);
  EXPECT_EQ(layout.shard_numel(), 19);  // half of 16 + 21
  int64_t covered = 0;
  for (const int shard : {0, 1}) {
    for (const auto& slice : layout.slices_of(shard)) covered += slice.length;
  }
  EXPECT_EQ(covered, 27);
}

// Not even those whose sizes are multiples of the alignment: products would take them as one.
TEST(ShardLayout, AnAlignmentKeepsParametersApart) {
  const std::vector<ParameterLayout> parameters{{"a", {2, 8}, 16}, {"b", {1, 8}, 8}};
  EXPECT_EQ(ShardLayout(parameters, 2, /*alignment=*/8).parameters()[1].flat_offset, 24);
  EXPECT_EQ(ShardLayout(parameters, 2).parameters()[1].flat_offset, 16);
}

TEST(ShardLayout, MoreShardsThanElementsLeavesSomeEmpty) {
  const ShardLayout layout({{"a", {2}, 2}}, 5);
  EXPECT_EQ(layout.shard_numel(), 1);
  EXPECT_EQ(layout.padded_numel(), 5);
  EXPECT_EQ(layout.slices_of(1).size(), 1);
  EXPECT_TRUE(layout.slices_of(4).empty());
}

}  // namespace
}  // namespace lockstep::fsdp
