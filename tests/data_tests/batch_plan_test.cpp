#include "lockstep/data/batch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Of 6 micro-batches of 2 rows, in the order in which the ranks, side by side, take them.
std::vector<int64_t> first_rows(int64_t step, int64_t num_ranks) {
  std::vector<int64_t> rows;
  for (int64_t micro = 0; micro < 6 / num_ranks; ++micro) {
    for (int64_t rank = 0; rank < num_ranks; ++rank) {
      const BatchPlan plan(12, 2, rank, num_ranks);
      EXPECT_EQ(plan.accumulation(), 6 / num_ranks);
      rows.push_back(plan.first_row(step, micro));
    }
  }
  return rows;
}

TEST(BatchPlan, RanksTakeTheSameMicroBatchesInTurnWhateverTheirNumber) {
  EXPECT_EQ(first_rows(3, 1), (std::vector<int64_t>{36, 38, 40, 42, 44, 46}));
  for (const int64_t num_ranks : {2, 3, 6})
    EXPECT_EQ(first_rows(3, num_ranks), first_rows(3, 1)) << num_ranks;
}

TEST(BatchPlan, RefusesAGlobalBatchThatDoesNotComeOutWhole) {
  EXPECT_THAT(message_of<ConfigError>([] { BatchPlan(8, 3, 0, 2); }),
              AllOf(HasSubstr("8 rows cannot be split into micro-batches of 3"), HasSubstr("such as 6")));
  EXPECT_THAT(message_of<ConfigError>([] { BatchPlan(4, 2, 0, 4); }), HasSubstr("multiple of 8, such as 8"));
  EXPECT_THAT(message_of<ConfigError>([] { BatchPlan(0, 1, 0, 1); }),
              HasSubstr("must be positive, got 0 and 1"));
}

TEST(StepsForEpochs, CoverEveryRowOfTheLastEpoch) {
  EXPECT_EQ(steps_for_epochs(3, 10, 4), 8);      // 30 rows and 2 of the fourth epoch
  EXPECT_EQ(steps_for_epochs(2, 10, 4), 5);      // comes out even
  EXPECT_EQ(steps_for_epochs(0.1, 300, 10), 3);  // 0.1 * 300 is a little over 30 in float64
  EXPECT_EQ(steps_for_epochs(0.5, 1, 8), 1);
}

}  // namespace
}  // namespace lockstep::data
