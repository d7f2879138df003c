// How runs end before their time: killed workers, killed drivers, Ctrl-C, SIGTERM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using testing::all_gone_within;
using ::testing::HasSubstr;
using testing::TinyRun;
using testing::workers_of;

TEST(Stopping, AKilledWorkerEndsTheOthersWithinTenSecondsAndIsNamed) {
  TinyRun run;
  Process driver = run.start({"train.steps=100000"});
  run.wait_for_steps(2);
  const auto workers = workers_of(driver.pid());
  ASSERT_EQ(workers.size(), 2);
  kill(workers[1], SIGKILL);
  const auto status = driver.wait_for(std::chrono::seconds(10));
  ASSERT_TRUE(status.has_value()) << "the driver still runs";
  EXPECT_EQ(status->code, 10);
  EXPECT_TRUE(all_gone_within(workers, 1));
  EXPECT_THAT(run.err(), HasSubstr("rank 1"));
  EXPECT_THAT(run.err(), HasSubstr("SIGKILL"));
}

TEST(Stopping, AWorkerThatHangsIsNamedByThoseThatWaitForIt) {
  TinyRun run;
  Process driver = run.start(
      {"train.steps=100000", "failure.hang_timeout=4", "scaling.num_workers=3", "train.global_batch=6"});
  run.wait_for_steps(10);
  const auto workers = workers_of(driver.pid());
  ASSERT_EQ(workers.size(), 3);
  kill(workers[1], SIGSTOP);
  EXPECT_EQ(driver.wait().code, 11);
  EXPECT_TRUE(all_gone_within(workers, 1));
  EXPECT_THAT(run.err(), HasSubstr("rank 1 is silent (last seen at "));
  EXPECT_THAT(run.log(1), HasSubstr("the calls of its main thread"));
}

TEST(Stopping, AKilledDriverLeavesNoWorker) {
  TinyRun run;
  Process driver = run.start({"train.steps=100000"});
  run.wait_for_steps(2);
  const auto workers = workers_of(driver.pid());
  ASSERT_EQ(workers.size(), 2);
  driver.signal(SIGKILL);
  EXPECT_TRUE(all_gone_within(workers, 10));
}

TEST(Stopping, CtrlCEndsAllRanksAfterTheSameStep) {
  TinyRun run;
  Process driver = run.start({"train.steps=100000"});
  run.wait_for_steps(2);
  const auto workers = workers_of(driver.pid());
  driver.signal(SIGINT);
  EXPECT_EQ(driver.wait().code, 130) << run.err();
  EXPECT_TRUE(all_gone_within(workers, 1));
  ASSERT_EQ(run.events("stopped").size(), 1);
  EXPECT_EQ(run.events("stopped")[0].at("step"), run.metrics().back().at("step"));
}

TEST(Stopping, SigtermIsAPreemption) {
  TinyRun run;
  Process driver = run.start({"train.steps=100000"});
  run.wait_for_steps(2);
  driver.signal(SIGTERM);
  EXPECT_EQ(driver.wait().code, 12) << run.err();
}

}  // namespace
}  // namespace lockstep::train
