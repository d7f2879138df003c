// What the launcher does with signals to itself.
#include <gmock/gmock.h>
#include <signal.h>

#include "launcher_fixture.h"

namespace lockstep::launch {
namespace {

using testing::HasSubstr;

class StopSignalsTest : public LauncherTest {
 protected:
  // Starts two workers and waits until both follow their script up to "ready".
  Process start_ready(std::vector<std::string> commands,
                      std::chrono::milliseconds stop_grace = std::chrono::seconds(30)) {
    commands.insert(commands.end(), {"*:print=ready", "*:wait"});
    auto launcher = start(2, commands, stop_grace);
    for (int rank = 0; rank < 2; ++rank) {
      await("rank " + std::to_string(rank), [&] { return log_has(rank, "ready"); });
    }
    return launcher;
  }
  void expect_workers_gone() {
    for (int rank = 0; rank < 2; ++rank) EXPECT_TRUE(is_gone(await_pid(rank)));
  }
};

TEST_F(StopSignalsTest, SigintIsPassedOnAndEndsWith130) {
  auto launcher = start_ready({"*:on=2,130"});
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.wait().shell_code(), 130);
  EXPECT_THAT(launcher_log(), HasSubstr("notice: stopping 2 workers; Ctrl-C again kills them"));
  expect_workers_gone();
}

TEST_F(StopSignalsTest, ASecondSigintKills) {
  auto launcher = start_ready({"*:ignore=2"});
  launcher.signal(SIGINT);
  await("the first to be seen", [&] { return launcher_log().find("stopping") != std::string::npos; });
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.wait().shell_code(), 130);
  EXPECT_THAT(launcher_log(), HasSubstr("notice: killing the workers\n"));
  expect_workers_gone();
}

TEST_F(StopSignalsTest, SigtermIsPassedOnAndEndsWith12) {
  auto launcher = start_ready({"*:on=15,12"});
  launcher.signal(SIGTERM);
  EXPECT_EQ(launcher.wait().shell_code(), 12);
  expect_workers_gone();
}

TEST_F(StopSignalsTest, ClosingTheTerminalStopsAsSigtermDoes) {
  auto launcher = start_ready({"*:on=15,12"});
  launcher.signal(SIGHUP);
  EXPECT_EQ(launcher.wait().shell_code(), 12);
}

TEST_F(StopSignalsTest, WorkersThatDoNotStopInTimeAreKilled) {
  auto launcher = start_ready({"*:ignore=15"}, std::chrono::milliseconds(200));
  launcher.signal(SIGTERM);
  EXPECT_EQ(launcher.wait().shell_code(), 12);
  EXPECT_THAT(launcher_log(), HasSubstr("notice: killing 2 workers that did not stop"));
  expect_workers_gone();
}

TEST_F(StopSignalsTest, AWorkerThatFailsWhileStoppingIsStillReported) {
  auto launcher = start_ready({"0:on=15,12", "1:on=15,7"});
  launcher.signal(SIGTERM);
  EXPECT_EQ(launcher.wait().shell_code(), 12);
  EXPECT_THAT(launcher_log(), HasSubstr("rank 1 "));
  EXPECT_THAT(launcher_log(), HasSubstr("exit code 7"));
}

TEST_F(StopSignalsTest, SuspendingPausesTheWorkersUntilItContinues) {
  auto launcher = start_ready({"*:on=2,130"});
  launcher.signal(SIGTSTP);
  await("the pause", [&] {
    return state(await_pid(0)) == 'T' && state(await_pid(1)) == 'T' && state(launcher.pid()) == 'T';
  });
  launcher.signal(SIGCONT);
  await("the workers to run again", [&] { return state(await_pid(0)) == 'S' && state(await_pid(1)) == 'S'; });
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.wait().shell_code(), 130);
}

}  // namespace
}  // namespace lockstep::launch
