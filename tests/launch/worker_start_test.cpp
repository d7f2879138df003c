// What a worker finds when it starts.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "launcher_fixture.h"
#include "lockstep/base/error.h"

namespace lockstep::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using WorkerStart = LauncherTest;

TEST_F(WorkerStart, EachIsToldItsPlace) {
  run(3, {"2:env=RANK", "2:env=LOCAL_RANK", "2:env=WORLD_SIZE", "2:env=LOCAL_WORLD_SIZE", "2:env=MASTER_ADDR",
          "2:env=LOCKSTEP_ROLE", "2:env=LOCKSTEP_RUN_DIR", "2:env=LOCKSTEP_GENERATION",
          "2:env=LOCKSTEP_STORE_FD"});
  EXPECT_THAT(log(2),
              HasSubstr("\nRANK=2\nLOCAL_RANK=2\nWORLD_SIZE=3\nLOCAL_WORLD_SIZE=3\nMASTER_ADDR=127.0.0.1\n"
                        "LOCKSTEP_ROLE=worker\nLOCKSTEP_RUN_DIR=" +
                        folder_.string() + "\nLOCKSTEP_GENERATION=1\nLOCKSTEP_STORE_FD=(unset)\n"));
}

TEST_F(WorkerStart, RankZeroHoldsTheListeningStoreSocketSoThePortCannotBeTaken) {
  run(2, {"0:store"});
  EXPECT_TRUE(log_has(0, "store answers")) << log(0);
}

TEST_F(WorkerStart, OnlyWhatIsMeantForItIsOpen) {
  run(2, {"*:fds"});
  EXPECT_TRUE(log_has(0, "open 3\nopen 4")) << log(0);
  EXPECT_THAT(log(0), Not(HasSubstr("open 5")));
  EXPECT_THAT(log(1), Not(HasSubstr("open")));
}

TEST_F(WorkerStart, EventsOfRankZeroArriveWholeAndInOrderUpToTheLast) {
  const std::string long_event(100'000, 'x');  // more than the pipe holds at once
  auto spec = options(2, {"0:event={\"a\":1}", "0:event=" + long_event, "0:event=last", "0:exit=0"});
  std::vector<std::string> events;
  spec.on_event = [&](const std::string& line) { events.push_back(line); };
  run_workers(spec);
  EXPECT_THAT(events, ElementsAre("{\"a\":1}", long_event, "last"));
}

TEST_F(WorkerStart, CoresAreSharedUnlessTheUserSaysOtherwise) {
  ::unsetenv("OMP_NUM_THREADS");
  run(64, {"0:env=OMP_NUM_THREADS"});
  EXPECT_TRUE(log_has(0, "OMP_NUM_THREADS=1"));

  ::setenv("OMP_NUM_THREADS", "7", 1);
  run(1, {"0:env=OMP_NUM_THREADS"});
  EXPECT_TRUE(log_has(0, "OMP_NUM_THREADS=7"));
  ::unsetenv("OMP_NUM_THREADS");
}

TEST_F(WorkerStart, VisibleDevicesAreLeftAlone) {
  ::setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
  run(2, {"1:env=CUDA_VISIBLE_DEVICES"});
  EXPECT_TRUE(log_has(1, "CUDA_VISIBLE_DEVICES=3,1"));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(WorkerStart, AFullDiskIsSaidBeforeAnythingStarts) {
  auto spec = options(2, {});
  spec.log_paths[1] = "/dev/full";
  try {
    run_workers(spec);
    FAIL() << "started";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/dev/full"));
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  }
  EXPECT_FALSE(log_has(0, "pid"));
}

TEST_F(WorkerStart, ALogFolderThatIsNotThereIsNamed) {
  auto spec = options(1, {});
  spec.log_paths[0] = folder_ / "absent" / "rank-0.log";
  EXPECT_THROW(run_workers(spec), IoError);
}

TEST_F(WorkerStart, AWorkerThatCannotBeStartedEndsTheOthers) {
  auto spec = options(2, {"*:wait"});
  spec.argv[0] = folder_ / "no-such-program";
  try {
    run_workers(spec);
    FAIL() << "started";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-such-program"));
  }
}

TEST_F(WorkerStart, AnEventHandlerThatThrowsLeavesNoWorker) {
  auto spec = options(2, {"0:event=now", "*:wait"});
  spec.on_event = [](const std::string&) { throw IoError("disk full"); };
  EXPECT_THROW(run_workers(spec), IoError);
  for (int rank = 0; rank < 2; ++rank) {
    if (log(rank).find("\npid ") == std::string::npos) continue;  // killed before it said its number
    EXPECT_TRUE(is_gone(await_pid(rank)));
  }
}

}  // namespace
}  // namespace lockstep::launch
