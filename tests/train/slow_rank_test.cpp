// A rank that is slower than the others, in a run of three.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/paths.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using testing::TinyRun;

// How many of the lines of steps `first` to `last` name rank 1 and `phase`.
int num_naming(const std::vector<Json>& metrics, int64_t first, int64_t last, const std::string& phase) {
  int count = 0;
  for (const Json& line : metrics) {
    const auto step = line.at("step").get<int64_t>();
    if (step < first || step > last) continue;
    if (line.at("slowest_rank") == 1 && line.at("slowest_phase") == phase) ++count;
  }
  return count;
}

TEST(SlowRank, IsNamedInTheMetricsWithItsPhase) {
  TinyRun run;
  ProcessOptions options =
      run.options({"scaling.num_workers=3", "train.global_batch=6", "train.steps=10", "data.held_out="});
  options.argv.erase(options.argv.begin() + 1);  // "train"
  options.argv[0] = build_path("bin/slow_rank");
  ASSERT_EQ(Process::start(options).wait().code, 0) << run.err();

  // A crowded machine may hold up another rank for longer now and then.
  const auto metrics = run.metrics();
  EXPECT_GE(num_naming(metrics, 1, 3, "forward"), 2) << Json(metrics);
  EXPECT_GE(num_naming(metrics, 4, 6, "backward"), 2) << Json(metrics);
  EXPECT_GE(num_naming(metrics, 8, 10, "report"), 2) << Json(metrics);  // of the step before each
  for (const Json& line : metrics) EXPECT_GE(line.at("slowest_ms"), line.at("median_rank_ms"));
}

TEST(SlowRank, IsNobodyWhereThereIsOneWorker) {
  TinyRun run;
  ASSERT_EQ(run.run({"scaling.num_workers=1", "train.steps=1", "data.held_out="}).code, 0) << run.err();
  EXPECT_FALSE(run.metrics().at(0).contains("slowest_rank"));
}

}  // namespace
}  // namespace lockstep::train
