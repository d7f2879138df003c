#include "lockstep/checkpoint/background_job.h"

#include <utility>

#include "lockstep/base/check.h"

namespace lockstep::checkpoint {

void BackgroundJob::start(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    LOCKSTEP_CHECK(state_ != State::kRunning) << "a job runs already";
    state_ = State::kRunning;
    error_.clear();
    code_.reset();
  }
  thread_ = std::jthread([this, job = std::move(job)] { run(job); });
}

void BackgroundJob::run(const std::function<void()>& job) {
  State state = State::kDone;
  std::string words;
  std::optional<ExitCode> code;
  try {
    job();
  } catch (const Error& error) {
    state = State::kFailed;
    words = error.what();
    code = error.exit_code();
  } catch (const std::exception& error) {
    state = State::kFailed;
    words = error.what();
  }
  const std::lock_guard lock(mutex_);
  state_ = state;
  error_ = std::move(words);
  code_ = code;
  ended_.notify_all();
}

BackgroundJob::State BackgroundJob::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string BackgroundJob::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

bool BackgroundJob::failed_with(ExitCode code) const {
  const std::lock_guard lock(mutex_);
  return state_ == State::kFailed && code_ == code;
}

void BackgroundJob::reset() {
  const std::lock_guard lock(mutex_);
  LOCKSTEP_CHECK(state_ != State::kRunning) << "a job runs";
  state_ = State::kIdle;
  error_.clear();
}

bool BackgroundJob::wait_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, timeout, [&] { return state_ != State::kRunning; });
}

}  // namespace lockstep::checkpoint
