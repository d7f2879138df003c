// One piece of work at a time on a thread of its own, while training goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lockstep/base/error.h"

namespace lockstep::checkpoint {

// All calls from one thread, its owner's.
class BackgroundJob {
 public:
  BackgroundJob() = default;
  // Waits for a job that runs: stores end their calls in a set time.
  ~BackgroundJob() = default;

  enum class State { kIdle, kRunning, kDone, kFailed };

  // CHECKs that none runs. What `job` uses must live as long as this.
  void start(std::function<void()> job);
  State state() const;
  // What a failed job threw, in words; empty when it did not fail.
  std::string error() const;
  // Whether it threw an Error of this kind.
  bool failed_with(ExitCode code) const;
  // Forgets how the last job ended. CHECKs that none runs.
  void reset();
  // False when it still runs after `timeout`.
  bool wait_for(std::chrono::milliseconds timeout);

 private:
  void run(const std::function<void()>& job);

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  State state_ = State::kIdle;  // guarded by mutex_, as are these:
  std::string error_;
  std::optional<ExitCode> code_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace lockstep::checkpoint
