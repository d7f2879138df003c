#include "lockstep/data/random_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

TEST(RandomRows, AreWholeDocumentsOfTokensInTheVocabulary) {
  const RandomRows rows(100, 37, 4, 1);
  const auto row = filled_row(rows, 5);
  EXPECT_THAT(row.tokens, ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(37))));
  EXPECT_THAT(row.document_ids, ::testing::Each(0));
  for (int64_t t = 0; t < 99; ++t) {
    EXPECT_EQ(row.positions[t], t);
    EXPECT_EQ(row.targets[t], row.tokens[t + 1]);
  }
  EXPECT_EQ(row.targets[99], kNoTarget);
  EXPECT_EQ(rows.trained_tokens(5), 99);
}

TEST(RandomRows, DependOnSeedAndRowAlone) {
  const auto tokens = [](uint64_t seed, int64_t row) {
    return filled_row(RandomRows(16, 1000, 4, seed), row).tokens;
  };
  EXPECT_EQ(tokens(1, 5), tokens(1, 5));
  EXPECT_NE(tokens(1, 5), tokens(2, 5));
  EXPECT_NE(tokens(1, 5), tokens(1, 6));  // the next sample of the step
  EXPECT_NE(tokens(1, 5), tokens(1, 9));  // the same sample of the next step
}

}  // namespace
}  // namespace lockstep::data
