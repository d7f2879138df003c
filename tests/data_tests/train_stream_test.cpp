#include "lockstep/data/train_stream.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::SizeIs;

// d05.jsonl: 10 texts "row a" to "row j", a row each.
std::shared_ptr<const Dataset> ten_rows(int64_t global_batch, int64_t micro_batch, double epochs) {
  auto recipe = text_recipe(input("data/d05.jsonl"), 8);
  recipe.data.packing = "none";
  recipe.train.steps.reset();
  recipe.train.epochs = epochs;
  recipe.train.global_batch = global_batch;
  recipe.train.micro_batch = micro_batch;
  return Dataset::open(recipe, &character_tokenizer(), kCharacterVocabulary);
}

std::vector<Batch> drain(TrainStream& stream) {
  std::vector<Batch> batches;
  while (auto batch = stream.next()) batches.push_back(std::move(*batch));
  return batches;
}

// The letter of each row, in the order of the run: step by step, micro-batch by micro-batch, the
// ranks in turn.
std::vector<int64_t> letters(const std::shared_ptr<const Dataset>& dataset, int num_ranks) {
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> by_micro_batch;
  for (int rank = 0; rank < num_ranks; ++rank) {
    TrainStream stream(dataset, rank, num_ranks);
    for (const auto& batch : drain(stream)) {
      for (int64_t row = 0; row < batch.tokens.size(0); ++row) {
        by_micro_batch[{batch.step, batch.micro_index}].push_back(batch.tokens[row][4].item<int64_t>());
      }
    }
  }
  std::vector<int64_t> all;
  for (const auto& [micro_batch, rows] : by_micro_batch) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

// Public case D05: with 10 rows on 4 ranks, 2 rows were never seen.
TEST(TrainStream, EveryRowComesOnceAnEpochForAnyNumberOfRanks) {
  const auto dataset = ten_rows(12, 1, 3);
  const auto alone = letters(dataset, 1);
  ASSERT_THAT(alone, SizeIs(36));
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::map<int64_t, int> seen;
    for (int i = 0; i < 10; ++i) ++seen[alone[10 * epoch + i]];
    EXPECT_THAT(seen, SizeIs(10));
  }
  for (const int num_ranks : {2, 3, 4}) EXPECT_EQ(letters(dataset, num_ranks), alone) << num_ranks;
}

// Public case O01: the gradient of a short last step was divided by the full batch. Here no
// step is short: 6 rows and a global batch of 4 make a second step of 4 rows.
TEST(TrainStream, NoStepIsShort) {
  const auto dataset = ten_rows(4, 1, 0.6);
  TrainStream stream(dataset, 0, 1);
  const auto batches = drain(stream);
  ASSERT_THAT(batches, SizeIs(8));
  EXPECT_EQ(batches[7].step, 1);
  EXPECT_TRUE(batches[7].last_micro_batch);
  for (const auto& batch : batches) EXPECT_EQ(batch.tokens_trained, 5);
}

TEST(TrainStream, StepTokensAreThoseOfAllRanksAndMicroBatches) {
  auto recipe = text_recipe(input("data/d03.jsonl"), 24);  // texts of unequal length
  recipe.data.packing = "none";
  recipe.train.steps = 5;
  recipe.train.global_batch = 4;
  const auto dataset = Dataset::open(recipe, &character_tokenizer(), kCharacterVocabulary);
  std::vector<int64_t> trained(5), announced(5);
  for (int rank = 0; rank < 2; ++rank) {
    TrainStream stream(dataset, rank, 2);
    for (const auto& batch : drain(stream)) {
      EXPECT_EQ(batch.tokens_trained, batch.targets.ne(kNoTarget).sum().item<int64_t>());
      trained[batch.step] += batch.tokens_trained;
      announced[batch.step] = batch.step_tokens;
    }
  }
  EXPECT_EQ(announced, trained);
}

TEST(TrainStream, ContinuesAtItsPositionOnAnotherNumberOfRanks) {
  const auto dataset = ten_rows(4, 2, 3);
  TrainStream first(dataset, 0, 1);
  for (int micro = 0; micro < 4; ++micro) first.next();
  EXPECT_EQ(first.position(), 8);
  const auto straight = first.next();
  TrainStream continued(dataset, 0, 2, 8);
  const auto batch = continued.next();
  EXPECT_EQ(batch->step, 2);
  EXPECT_TRUE(at::equal(batch->tokens, straight->tokens));
}

TEST(TrainStream, PositionCountsOnlyWholeSteps) {
  const auto dataset = ten_rows(4, 2, 3);
  TrainStream stream(dataset, 0, 1);
  EXPECT_EQ(stream.position(), 0);
  EXPECT_FALSE(stream.next()->last_micro_batch);
  EXPECT_EQ(stream.position(), 0);
  EXPECT_TRUE(stream.next()->last_micro_batch);
  EXPECT_EQ(stream.position(), 4);
}

TEST(TrainStream, ShapesAndTypesAreThoseOfTheContract) {
  TrainStream stream(ten_rows(4, 2, 1), 0, 1);
  const auto batch = *stream.next();
  for (const auto& [tensor, dtype] :
       {std::pair(batch.tokens, at::kLong), std::pair(batch.positions, at::kLong),
        std::pair(batch.document_ids, at::kInt), std::pair(batch.targets, at::kLong)}) {
    EXPECT_EQ(tensor.sizes(), at::IntArrayRef({2, 8}));
    EXPECT_EQ(tensor.scalar_type(), dtype);
  }
}

TEST(TrainStream, RefusesRanksThatDoNotDivideTheGlobalBatch) {
  EXPECT_THROW(TrainStream(ten_rows(4, 1, 1), 0, 3), ConfigError);
}

}  // namespace
}  // namespace lockstep::data
