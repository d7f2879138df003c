// Real workers (scripted_worker) under the launcher, and a look at which processes live.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/base/process.h"
#include "lockstep/launch/local_launcher.h"

namespace lockstep::launch {

class LauncherTest : public testing::Test {
 protected:
  LauncherTest();
  ~LauncherTest() override;

  // `num_workers` of scripted_worker with these commands, logs in `folder_`.
  LaunchOptions options(int num_workers, const std::vector<std::string>& commands) const;
  LaunchResult run(int num_workers, const std::vector<std::string>& commands) const {
    return run_workers(options(num_workers, commands));
  }
  // The same in a process of its own, which a test may signal. Its output: `launcher.log`.
  Process start(int num_workers, const std::vector<std::string>& commands,
                std::chrono::milliseconds stop_grace = std::chrono::seconds(30)) const;

  std::string log_path(int rank) const;
  std::string log(int rank) const;  // "" while there is none
  std::string launcher_log() const;
  bool log_has(int rank, const std::string& line) const;
  // The number behind `word` in a rank's log ("pid 4711"), once it is there.
  pid_t await_pid(int rank, const std::string& word = "pid") const;
  // Waits for something that is bound to happen; the test fails if it has not after 20 seconds.
  static void await(const std::string& what, const std::function<bool()>& condition);
  // A zombie whose parent has died counts as gone: nothing runs any more.
  static bool is_gone(pid_t pid);
  static char state(pid_t pid);  // as in /proc/PID/stat; 0 when there is no such process

  std::filesystem::path folder_;
};

}  // namespace lockstep::launch
