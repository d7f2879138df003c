// What the launcher does when a worker fails.
#include <gmock/gmock.h>
#include <signal.h>

#include "launcher_fixture.h"

namespace lockstep::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

using FailingWorkers = LauncherTest;

TEST_F(FailingWorkers, AllFinishedIsExitCodeZero) {
  const auto result = run(3, {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_FALSE(result.failure);
}

TEST_F(FailingWorkers, AKilledWorkerIsNamedWithItsSignalAndLogAndTheOthersEnd) {
  auto launcher = start(4, {"2:print=last words", "*:wait"});
  std::vector<pid_t> pids;
  for (int rank = 0; rank < 4; ++rank) pids.push_back(await_pid(rank));
  await("the last words", [&] { return log_has(2, "last words"); });
  ::kill(pids[2], SIGKILL);

  const auto ended = launcher.wait_for(std::chrono::seconds(10));
  ASSERT_TRUE(ended) << "still there after 10 seconds";
  EXPECT_EQ(ended->shell_code(), 10);
  for (const pid_t pid : pids) EXPECT_TRUE(is_gone(pid));
  EXPECT_THAT(launcher_log(),
              HasSubstr("rank 2 (pid " + std::to_string(pids[2]) + ") ended with signal 9 (SIGKILL)"));
  EXPECT_THAT(launcher_log(), HasSubstr("\n  | last words\n"));
}

TEST_F(FailingWorkers, AWorkerThatIgnoresSigtermIsKilled) {
  auto spec = options(2, {"0:ignore=15", "0:print=deaf", "0:wait", "1:sleep_ms=200", "1:exit=3"});
  spec.failure_grace = std::chrono::milliseconds(300);
  const auto result = run_workers(spec);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.failure->exit.rank, 1);
  EXPECT_TRUE(is_gone(await_pid(0)));
}

TEST_F(FailingWorkers, ExitCodesPassThrough) {
  for (const int code : {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 77}) {
    EXPECT_EQ(run(2, {"1:exit=" + std::to_string(code), "*:wait"}).exit_code, code);
  }
}

TEST_F(FailingWorkers, TheCauseIsNotTheOneThatLostAPeerEvenWhenItEndsFirst) {
  const auto result = run(3, {"0:exit=10", "1:sleep_ms=300", "1:kill=9", "2:exit=10"});
  EXPECT_EQ(result.exit_code, 10);
  EXPECT_EQ(result.failure->exit.rank, 1);
  EXPECT_EQ(result.failure->exit.status.signal, SIGKILL);
}

TEST_F(FailingWorkers, TheCauseKeepsItsOwnCodeWhenItEndsAfterThoseThatLostIt) {
  const auto result = run(2, {"0:exit=10", "1:sleep_ms=300", "1:exit=3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.failure->exit.rank, 1);
}

TEST_F(FailingWorkers, TheWorkersOwnErrorBecomesOneLine) {
  const auto result = run(2, {"1:print=lockstep: error: train.jsonl line 3: not JSON", "1:exit=3", "*:wait"});
  EXPECT_EQ(result.failure->describe(), "rank 1: train.jsonl line 3: not JSON (log: " + log_path(1) + ")");
}

TEST_F(FailingWorkers, WhatAWorkerStartedEndsWithIt) {
  run(1, {"0:spawn", "0:exit=0"});
  const pid_t child = await_pid(0, "child");
  await("the child's end", [&] { return is_gone(child); });
}

TEST_F(FailingWorkers, NoneOutlivesALauncherKilledWithSigkill) {
  auto launcher = start(3, {"*:ignore=15", "*:ignore=2", "*:wait"});
  std::vector<pid_t> pids;
  for (int rank = 0; rank < 3; ++rank) pids.push_back(await_pid(rank));
  launcher.signal(SIGKILL);
  launcher.wait();
  for (const pid_t pid : pids) await("the end of " + std::to_string(pid), [&] { return is_gone(pid); });
}

}  // namespace
}  // namespace lockstep::launch
