// Steps that must not enter the weights, in the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/paths.h"
#include "tests/train/saved_state.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;
using testing::newest_state;
using testing::TinyRun;

// Case O06: with this model only texts with a z are not finite; one row of the second step has one.
class NonFinite : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::ofstream data(run_.folder() / "rows.jsonl");
    // Order and held-out are the recipe's; each text is a row, and the seed puts "zebra" into step 2.
    for (int i = 0; i < 24; ++i)
      data << Json{{"text", i == 5 ? "a zebra" : "words " + std::string(1, 'a' + i % 20)}} << "\n";
  }

  std::vector<std::string> settings(const std::vector<std::string>& more) const {
    std::vector<std::string> result = {
        "model.source=" + test_data("models/inf_row_z"),
        "model.init=pretrained",
        "data.sources=[{path: " + (run_.folder() / "rows.jsonl").string() + "}]",
        "data.packing=none",
        "data.held_out=",
        "data.sequence_length=32",
        "train.micro_batch=1",
        "train.steps=3",
        "train.global_batch=" + std::to_string(GetParam() == 3 ? 6 : 8),
        "schedule.warmup_steps=0",
        "checkpoint.interval_steps=1",
        "checkpoint.keep_last=9",
        "scaling.num_workers=" + std::to_string(GetParam())};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }

  TinyRun run_;
};

TEST_P(NonFinite, AStepIsSkippedOnAllRanksAndRecordedWithItsRow) {
  EXPECT_EQ(run_.run(settings({"guard.max_skipped=1"})).code, 0) << run_.err();
  const auto events = run_.events("step_skipped");
  ASSERT_EQ(events.size(), 1u);
  const auto step = events[0].at("step").get<int64_t>();
  const auto rows = events[0].at("rows").get<std::vector<int64_t>>();
  ASSERT_EQ(rows.size(), 1u);
  const int64_t global_batch = GetParam() == 3 ? 6 : 8;
  EXPECT_EQ(rows[0] / global_batch + 1, step);
  EXPECT_THAT(events[0].at("where").get<std::string>(),
              HasSubstr("model.embed_tokens.weight are not finite"));

  const auto metrics = run_.metrics();
  ASSERT_EQ(metrics.size(), 3u);
  for (const Json& line : metrics) {
    EXPECT_EQ(line.contains("skipped"), line.at("step") == step);
    EXPECT_EQ(line.at("loss").is_null(), line.at("step") == step);
  }
}

TEST_P(NonFinite, OneTooManyEndsTheRunAndTheLastGoodCheckpointStays) {
  EXPECT_EQ(run_.run(settings({})).code, 6) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("it comes from row "));
  EXPECT_THAT(run_.err(), HasSubstr("model.embed_tokens.weight"));
  const auto step = run_.events("step_skipped").at(0).at("step").get<int64_t>();
  ASSERT_GT(step, 1) << "the data has its z in the first step: nothing was saved before it";
  EXPECT_EQ(testing::checkpoint_steps(run_.dir()).at(0), step - 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, NonFinite, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace lockstep::train
