#include "lockstep/data/evaluation_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

// 5 held-out texts, a row each.
std::shared_ptr<const Dataset> five_held_out(int64_t micro_batch) {
  auto recipe = text_recipe(input("data/d05.jsonl"), 24);
  recipe.data.packing = "none";
  recipe.data.held_out = input("data/d03.jsonl");
  recipe.train.global_batch = micro_batch;
  recipe.train.micro_batch = micro_batch;
  return Dataset::open(recipe, &character_tokenizer(), kCharacterVocabulary);
}

// Public case D03: rows were repeated until they came out even over the ranks: 79 tokens on 4
// ranks for 52.
TEST(EvaluationStream, EveryHeldOutRowComesOnceForAnyNumberOfRanks) {
  for (const int64_t micro_batch : {1, 2, 3, 8}) {
    const auto dataset = five_held_out(micro_batch);
    for (int num_ranks = 1; num_ranks <= 6; ++num_ranks) {
      int64_t trained = 0, rows = 0;
      std::set<int64_t> batches_of_ranks;
      for (int rank = 0; rank < num_ranks; ++rank) {
        EvaluationStream stream(dataset, rank, num_ranks);
        int64_t batches = 0;
        while (const auto batch = stream.next()) {
          ++batches;
          trained += batch->targets.ne(kNoTarget).sum().item<int64_t>();
          rows += batch->document_ids.amax({1}).ge(0).sum().item<int64_t>();
          EXPECT_EQ(batch->tokens.size(0), micro_batch);
          EXPECT_EQ(batch->step_tokens, 52);
        }
        batches_of_ranks.insert(batches);
      }
      EXPECT_EQ(trained, 52) << num_ranks << " ranks, micro-batches of " << micro_batch;
      EXPECT_EQ(rows, 5);
      EXPECT_EQ(batches_of_ranks.size(), 1) << "collectives would not match";
    }
  }
}

TEST(EvaluationStream, ARankWithoutRowsGetsPaddingAlone) {
  EvaluationStream stream(five_held_out(5), 1, 2);
  const auto batch = stream.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->tokens_trained, 0);
  EXPECT_TRUE(batch->document_ids.eq(kPaddingDocument).all().item<bool>());
  EXPECT_TRUE(batch->targets.eq(kNoTarget).all().item<bool>());
  EXPECT_TRUE(batch->last_micro_batch);
}

}  // namespace
}  // namespace lockstep::data
