// Runs that end and go on: the same bits on the same ranks, the same samples on any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "lockstep/record/metrics.h"
#include "tests/train/saved_state.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using testing::all_gone_within;
using testing::checkpoint_steps;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::largest_difference;
using testing::newest_hashes;
using testing::newest_state;
using testing::TinyRun;
using testing::workers_of;

// What a step's line says of the training itself.
std::vector<Json> training_metrics(const TinyRun& run) {
  std::vector<Json> rows;
  for (const auto& row : record::read_metrics(record::RunDirectory::open(run.dir()))) {
    Json values;
    for (const char* key : {"step", "loss", "tokens", "grad_norm", "lr"}) values[key] = row.values.at(key);
    rows.push_back(values);
  }
  return rows;
}

std::vector<double> losses(const TinyRun& run) {
  std::vector<double> result;
  for (const Json& row : training_metrics(run)) result.push_back(row.at("loss").get<double>());
  return result;
}

const std::vector<std::string> kSettings = {"determinism=run", "checkpoint.interval_steps=5",
                                            "train.steps=40"};

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// The run that nothing disturbs: every test here compares with it.
class Continuing : public ::testing::Test {
 protected:
  static TinyRun& straight() {
    static TinyRun run;
    static const ExitStatus status = run.run(kSettings);
    EXPECT_EQ(status.code, 0) << run.err();
    return run;
  }

  static void expect_same_bits(const TinyRun& run, int last_generation) {
    EXPECT_EQ(run.finished(last_generation).at("weights_sha256"), straight().finished().at("weights_sha256"));
    EXPECT_EQ(newest_hashes(run.dir()), newest_hashes(straight().dir()));  // weights and optimizer
    EXPECT_EQ(training_metrics(run), training_metrics(straight()));
  }

  TinyRun run_;
};

TEST_F(Continuing, StoppingTwiceChangesNoBit) {
  EXPECT_EQ(run_.run(with(kSettings, {"train.stop_after=13"})).code, 0) << run_.err();
  EXPECT_THAT(run_.out(), HasSubstr("stopped after step 13; the same command goes on from there"));
  EXPECT_THAT(checkpoint_steps(run_.dir()), ElementsAre(13, 10));
  EXPECT_EQ(run_.run(with(kSettings, {"train.stop_after=13"})).code, 0) << run_.err();
  EXPECT_EQ(run_.events("restored", 2).at(0).at("step"), 13);
  EXPECT_EQ(run_.run(kSettings).code, 0) << run_.err();
  expect_same_bits(run_, 3);
}

TEST_F(Continuing, AKilledWorkerIsStartedAgainWithTheOthers) {
  Process driver = run_.start(with(kSettings, {"failure.max_failures=1"}));
  run_.wait_for_steps(8);
  const auto workers = workers_of(driver.pid());
  ASSERT_EQ(workers.size(), 2);
  kill(workers[1], SIGKILL);
  EXPECT_EQ(driver.wait().code, 0) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("SIGKILL"));
  EXPECT_THAT(run_.err(), HasSubstr("starting 2 workers again in 1 s"));
  EXPECT_EQ(run_.driver_events("restart").size(), 1);
  expect_same_bits(run_, 2);
}

TEST_F(Continuing, KillingEveryWorkerLosesNothingThatWasSaved) {
  Process driver = run_.start(with(kSettings, {"failure.max_failures=1"}));
  run_.wait_for_steps(8);
  for (const pid_t worker : workers_of(driver.pid())) kill(worker, SIGKILL);
  EXPECT_EQ(driver.wait().code, 0) << run_.err();
  EXPECT_GE(run_.events("restored", 2).at(0).at("step").get<int64_t>(), 5);
  expect_same_bits(run_, 2);
}

TEST_F(Continuing, AKilledDriverIsTakenOverByTheNext) {
  Process driver = run_.start(kSettings);
  run_.wait_for_steps(8);
  const auto workers = workers_of(driver.pid());
  driver.signal(SIGKILL);
  driver.wait();
  ASSERT_TRUE(all_gone_within(workers, 10));
  EXPECT_EQ(run_.run(kSettings).code, 0) << run_.err();
  expect_same_bits(run_, 2);
}

TEST_F(Continuing, SigtermSavesWhereItStops) {
  Process driver = run_.start(with(kSettings, {"checkpoint.interval_steps=1000"}));
  run_.wait_for_steps(8);
  driver.signal(SIGTERM);
  EXPECT_EQ(driver.wait().code, 12) << run_.err();
  EXPECT_EQ(checkpoint_steps(run_.dir()).at(0), run_.metrics().back().at("step"));
  EXPECT_EQ(run_.run(kSettings).code, 0) << run_.err();
  expect_same_bits(run_, 2);
}

TEST_F(Continuing, ADamagedCheckpointIsNamedAndTheOneBeforeItTaken) {
  EXPECT_EQ(run_.run(with(kSettings, {"train.stop_after=12"})).code, 0) << run_.err();
  const std::string shard = run_.dir() + "/checkpoints/step-00000012.g001/shard-00001.safetensors";
  std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
  file.close();
  EXPECT_EQ(run_.run(kSettings).code, 0) << run_.err();
  EXPECT_EQ(run_.events("restored", 2).at(0).at("step"), 10);
  EXPECT_THAT(run_.events("checkpoint_damaged", 2).at(0).at("reason").get<std::string>(),
              HasSubstr("step-00000012.g001/shard-00001.safetensors was changed"));
  expect_same_bits(run_, 2);
}

TEST_F(Continuing, WithoutAWholeCheckpointNothingIsBegunAnew) {
  EXPECT_EQ(run_.run({"train.stop_after=2"}).code, 0) << run_.err();
  std::filesystem::remove(run_.dir() + "/checkpoints/step-00000002.g001/shard-00000.safetensors");
  EXPECT_EQ(run_.run().code, 7) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("shard-00000.safetensors is missing"));
  EXPECT_TRUE(std::filesystem::exists(run_.dir() + "/checkpoints/step-00000002.g001/manifest.json"));
}

TEST_F(Continuing, AnotherTrainingIsRefusedByItsKeys) {
  EXPECT_EQ(run_.run({"train.stop_after=2"}).code, 0) << run_.err();
  EXPECT_EQ(run_.run({"precision.compute=fp64"}).code, 2);
  EXPECT_THAT(run_.err(), HasSubstr("precision.compute was \"fp32\", is \"fp64\" now"));
  EXPECT_EQ(run_.run({"optimizer.lr=0.5", "train.seed=9"}).code, 2);
  EXPECT_THAT(run_.err(), HasSubstr("optimizer.lr was 0.01, is 0.5 now; train.seed was 1, is 9 now"));
  EXPECT_THAT(checkpoint_steps(run_.dir()), ElementsAre(2));
  EXPECT_EQ(run_.run({"train.stop_after=1", "sharding.strategy=grad_op", "scaling.num_workers=1"}).code, 0)
      << run_.err();
}

TEST_F(Continuing, ARunThatIsBeingTrainedIsLeftAlone) {
  Process driver = run_.start({"train.steps=100000"});
  run_.wait_for_steps(1);
  TinyRun other;
  EXPECT_EQ(other.run({"run.dir=" + run_.dir()}).code, 2);
  EXPECT_THAT(other.err(), HasSubstr("is being trained by another process"));
  driver.signal(SIGINT);
  EXPECT_EQ(driver.wait().code, 130);
}

TEST_F(Continuing, FromTheBestGoesBackToIt) {
  const std::vector<std::string> settings = {"evaluation.interval_steps=4", "checkpoint.interval_steps=4",
                                             "checkpoint.keep_last=1", "checkpoint.keep_best=1"};
  EXPECT_EQ(run_.run(with(settings, {"train.stop_after=11"})).code, 0) << run_.err();
  double best = 1e9;
  int64_t best_step = 0;
  for (const Json& event : run_.events("evaluation")) {
    if (event.at("when") != "during" || event.at("loss").get<double>() >= best) continue;
    best = event.at("loss").get<double>();
    best_step = event.at("step").get<int64_t>();
  }
  EXPECT_THAT(checkpoint_steps(run_.dir()), ElementsAre(11, best_step));
  EXPECT_EQ(run_.run(with(settings, {"train.stop_after=1", "--from", "best"})).code, 0) << run_.err();
  EXPECT_EQ(run_.events("restored", 2).at(0).at("step"), best_step);
}

TEST_F(Continuing, FromAnotherRunsCheckpoint) {
  EXPECT_EQ(run_.run({"train.stop_after=3"}).code, 0) << run_.err();
  TinyRun other;
  EXPECT_EQ(other.run({"train.stop_after=1", "--from", run_.dir()}).code, 0) << other.err();
  EXPECT_EQ(other.events("restored").at(0).at("step"), 3);
  EXPECT_EQ(other.metrics().at(0).at("step"), 4);
  EXPECT_EQ(other.run({"--from", other.dir() + "/checkpoints/step-00000009.g001"}).code, 2);
  EXPECT_THAT(other.err(), HasSubstr("there is no committed checkpoint"));
}

TEST_F(Continuing, FromAnotherRunHoldsForARestartBeforeTheFirstSave) {
  EXPECT_EQ(run_.run({"train.stop_after=3"}).code, 0) << run_.err();
  TinyRun other;
  Process driver = other.start({"train.steps=20", "failure.max_failures=1", "--from", run_.dir()});
  other.wait_for_steps(2);
  for (const pid_t worker : workers_of(driver.pid())) kill(worker, SIGKILL);
  EXPECT_EQ(driver.wait().code, 0) << other.err();
  EXPECT_THAT(other.err(), HasSubstr("starting 2 workers again in 1 s, from " + run_.dir()));
  EXPECT_EQ(other.events("restored", 2).at(0).at("step"), 3);
}

TEST_F(Continuing, FromACheckpointOfItsOwnKeepsThoseBeforeIt) {
  const std::vector<std::string> settings = {"checkpoint.interval_steps=4", "checkpoint.keep_last=9"};
  EXPECT_EQ(run_.run(with(settings, {"train.stop_after=10"})).code, 0) << run_.err();
  const std::string from = run_.dir() + "/checkpoints/step-00000008.g001";
  EXPECT_EQ(run_.run(with(settings, {"train.stop_after=1", "--from", from})).code, 0) << run_.err();
  EXPECT_THAT(checkpoint_steps(run_.dir()), ElementsAre(9, 8, 4));
}

TEST_F(Continuing, AFinishedRunGoesFurtherOnlyFromACheckpoint) {
  const std::vector<std::string> settings = {"schedule.name=constant", "schedule.warmup_steps=0"};
  EXPECT_EQ(run_.run(with(settings, {"train.steps=3"})).code, 0) << run_.err();
  EXPECT_EQ(run_.run(with(settings, {"train.steps=5"})).code, 2);
  EXPECT_THAT(run_.err(), HasSubstr("holds a finished run (3 steps) without a checkpoint"));
  TinyRun saved;
  EXPECT_EQ(saved.run(with(settings, {"train.steps=3", "checkpoint.interval_steps=9"})).code, 0)
      << saved.err();
  EXPECT_EQ(saved.run(with(settings, {"train.steps=5"})).code, 0) << saved.err();
  EXPECT_EQ(saved.events("restored", 2).at(0).at("step"), 3);
  EXPECT_EQ(saved.finished(2).at("steps"), 5);
}

// Case C02: the newest by number.
TEST_F(Continuing, RetentionCountsStepsAsNumbers) {
  const std::vector<std::string> settings = {"train.steps=102", "checkpoint.interval_steps=1",
                                             "checkpoint.keep_last=2", "data.sequence_length=16",
                                             "data.held_out="};
  EXPECT_EQ(run_.run(with(settings, {"train.stop_after=10"})).code, 0) << run_.err();
  EXPECT_THAT(checkpoint_steps(run_.dir()), ElementsAre(10, 9));
  EXPECT_EQ(run_.run(with(settings, {"train.stop_after=90"})).code, 0) << run_.err();
  EXPECT_THAT(checkpoint_steps(run_.dir()), ElementsAre(100, 99));
}

TEST(OnOtherRanks, TheSameSamplesAndNearlyTheSameLosses) {
  TinyRun straight, moved;
  EXPECT_EQ(straight.run({"scaling.num_workers=4"}).code, 0) << straight.err();
  EXPECT_EQ(moved.run({"scaling.num_workers=4", "train.stop_after=7"}).code, 0) << moved.err();
  EXPECT_EQ(
      moved.run({"scaling.num_workers=2", "sharding.wrap.min_parameters=1000", "train.stop_after=7"}).code, 0)
      << moved.err();
  EXPECT_EQ(moved.run({"scaling.num_workers=1", "sharding.strategy=none"}).code, 0) << moved.err();
  const auto expected = losses(straight), found = losses(moved);
  ASSERT_EQ(found.size(), 20u);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4 * expected[i]) << i;
}

TEST(OnOtherRanks, TheSameWeightsInFloat64) {
  const std::vector<std::string> settings = {"precision.compute=fp64", "checkpoint.interval_steps=20"};
  TinyRun straight, moved;
  EXPECT_EQ(straight.run(with(settings, {"scaling.num_workers=4"})).code, 0) << straight.err();
  EXPECT_EQ(moved.run(with(settings, {"scaling.num_workers=4", "train.stop_after=7"})).code, 0)
      << moved.err();
  EXPECT_EQ(moved.run(with(settings, {"scaling.num_workers=2", "sharding.strategy=none"})).code, 0)
      << moved.err();
  EXPECT_LT(largest_difference(newest_state(moved.dir()), newest_state(straight.dir())), 1e-9);
}

TEST(OnOtherRanks, TheSameBitsWithDeterminismElastic) {
  const std::string elastic = "determinism=elastic";
  TinyRun straight, shrinking;
  EXPECT_EQ(straight.run({elastic, "scaling.num_workers=1"}).code, 0) << straight.err();
  EXPECT_EQ(shrinking.run({elastic, "scaling.num_workers=4", "train.stop_after=7"}).code, 0)
      << shrinking.err();
  EXPECT_EQ(shrinking.run({elastic, "scaling.num_workers=2", "train.stop_after=7"}).code, 0)
      << shrinking.err();
  EXPECT_EQ(shrinking.run({elastic, "scaling.num_workers=1"}).code, 0) << shrinking.err();
  EXPECT_EQ(shrinking.finished(3).at("weights_sha256"), straight.finished().at("weights_sha256"));
  EXPECT_EQ(losses(shrinking), losses(straight));
}

}  // namespace
}  // namespace lockstep::train
