#include "lockstep/launch/worker_failure.h"

#include <gmock/gmock.h>
#include <signal.h>

namespace lockstep::launch {
namespace {

using testing::HasSubstr;

WorkerExit exited(int rank, int code) { return {rank, 100 + rank, {.code = code}, false}; }
WorkerExit killed(int rank, int signal) { return {rank, 100 + rank, {.signal = signal}, false}; }
WorkerExit after_stop(WorkerExit exit) {
  exit.told_to_stop = true;
  return exit;
}

int cause(const std::vector<WorkerExit>& exits) {
  const auto found = find_cause(exits);
  return found ? found->rank : -1;
}

TEST(FindCause, IsNobodyWhenAllFinished) { EXPECT_EQ(cause({exited(0, 0), exited(1, 0)}), -1); }

TEST(FindCause, IsTheFirstThatFailed) { EXPECT_EQ(cause({exited(0, 0), exited(2, 7), exited(1, 3)}), 2); }

TEST(FindCause, IsTheOneLostAndNotTheOneThatLostIt) {
  EXPECT_EQ(cause({exited(0, 10), killed(1, SIGKILL), exited(2, 10)}), 1);
  EXPECT_EQ(cause({exited(0, 10), exited(2, 10), exited(1, 3)}), 1);
}

TEST(FindCause, IsTheFirstThatLostAPeerWhenNothingElseFailed) {
  // As when a peer on another machine has gone, or one finished too early.
  EXPECT_EQ(cause({exited(1, 0), exited(2, 10), exited(0, 10)}), 2);
}

TEST(FindCause, LeavesOutThoseThatStoppedAsTold) {
  EXPECT_EQ(cause({after_stop(killed(0, SIGTERM)), after_stop(exited(1, 12)), after_stop(exited(2, 10)),
                   after_stop(killed(3, SIGKILL)), after_stop(exited(4, 130))}),
            -1);
  EXPECT_EQ(cause({after_stop(exited(0, 12)), after_stop(exited(1, 7))}), 1);
  EXPECT_EQ(cause({after_stop(exited(0, 12)), after_stop(killed(1, SIGSEGV))}), 1);
}

TEST(FindCause, CountsASignalThatNobodyHereSent) {
  EXPECT_EQ(cause({killed(0, SIGTERM)}), 0);
  EXPECT_EQ(killed(0, SIGTERM).exit_code(), 10);
  EXPECT_EQ(exited(0, 12).exit_code(), 12);
}

TEST(WorkerFailureText, NamesRankSignalAndTheEndOfTheLog) {
  const WorkerFailure failure{killed(3, SIGKILL), "runs/a/logs/g001-rank-003.log", {"step 4", "step 5"}};
  EXPECT_EQ(
      failure.describe(),
      "rank 3 (pid 103) ended with signal 9 (SIGKILL); if nobody sent it, the machine ran out of memory: see "
      "dmesg. Its log runs/a/logs/g001-rank-003.log ends:\n  | step 4\n  | step 5");
}

TEST(WorkerFailureText, ACleanErrorNeedsNoMoreThanItsLine) {
  const WorkerFailure failure{
      exited(0, 3), "log", {"loading", "lockstep: error: data.jsonl line 3: not JSON"}};
  EXPECT_EQ(failure.describe(), "rank 0: data.jsonl line 3: not JSON (log: log)");
}

TEST(WorkerFailureText, AnErrorLineBeforeASignalDoesNotHideTheSignal) {
  const WorkerFailure failure{killed(0, SIGSEGV), "log", {"lockstep: error: something"}};
  EXPECT_THAT(failure.describe(), HasSubstr("signal 11 (SIGSEGV)"));
}

}  // namespace
}  // namespace lockstep::launch
