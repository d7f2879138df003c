#include "lockstep/data/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "lockstep/data/keyed_random.h"
#include "lockstep/data/permutation.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;

std::vector<PackedRow> pack(const std::vector<int32_t>& lengths, int64_t capacity, uint64_t seed) {
  return pack_best_fit(lengths, capacity, permutation(int64_t(lengths.size()), seed, 0));
}

TEST(PackBestFit, PutsEachPieceIntoTheFullestRowThatHoldsIt) {
  // 7 and 6 open rows with 3 and 4 left; 3 goes where 3 is left, 4 where 4 is.
  EXPECT_THAT(pack({3, 6, 4, 7}, 10, 1), ElementsAre(ElementsAre(3, 0), ElementsAre(1, 2)));
}

TEST(PackBestFit, HoldsEveryPieceOnceWithinTheCapacity) {
  std::vector<int32_t> lengths;
  for (uint64_t i = 0; i < 997; ++i) lengths.push_back(int32_t(1 + below(keyed_random({i}), 64)));
  std::vector<int> seen(lengths.size());
  const auto rows = pack(lengths, 64, 5);
  for (const auto& row : rows) {
    int64_t used = 0;
    for (const int64_t piece : row) {
      used += lengths[piece];
      ++seen[piece];
    }
    EXPECT_LE(used, 64);
  }
  EXPECT_THAT(seen, ::testing::Each(1));
  const auto total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  EXPECT_LE(int64_t(rows.size()), total / 64 + 1 + total / 64 / 50);  // under 2% over the least possible
}

TEST(PackBestFit, SeedDecidesOnlyAmongPiecesOfOneLength) {
  const std::vector<int32_t> lengths(40, 4);
  EXPECT_EQ(pack(lengths, 9, 1), pack(lengths, 9, 1));
  EXPECT_NE(pack(lengths, 9, 1), pack(lengths, 9, 2));
  EXPECT_EQ(pack(lengths, 9, 1).size(), pack(lengths, 9, 2).size());
}

TEST(PackNone, GivesEachPieceARow) { EXPECT_THAT(pack_none(2), ElementsAre(ElementsAre(0), ElementsAre(1))); }

TEST(Permutation, IsOneAndDependsOnSeedAndRound) {
  auto order = permutation(50, 3, 0);
  EXPECT_NE(order, permutation(50, 4, 0));
  EXPECT_NE(order, permutation(50, 3, 1));
  std::ranges::sort(order);
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(order[i], i);
}

// The order of a run is part of what makes it the same run: it may not change with a release.
TEST(Permutation, StaysWhatItWas) { EXPECT_THAT(permutation(8, 1, 2), ElementsAre(7, 3, 6, 4, 5, 2, 0, 1)); }

TEST(Permutation, PutsEachNumberAnywhereEquallyOften) {
  std::vector<int> first(5);
  for (uint64_t seed = 0; seed < 5000; ++seed) ++first[permutation(5, seed, 0)[0]];
  for (const int count : first) EXPECT_NEAR(count, 1000, 120);  // 4 standard deviations
}

}  // namespace
}  // namespace lockstep::data
