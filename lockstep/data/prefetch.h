// Makes results ahead of their use, on a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace lockstep::data {

// Calls `produce` again and again, on its thread alone, until it returns nothing or throws.
// At most `depth` results wait at any time.
template <typename T>
class Prefetch {
 public:
  Prefetch(std::function<std::optional<T>()> produce, size_t depth)
      : produce_(std::move(produce)), depth_(depth), thread_([this] { run(); }) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Waits at most for the call of `produce` that is under way; results not taken are dropped.
  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // The results in order, then nothing. What `produce` threw is thrown here, after the
  // results before it, and at every later call.
  std::optional<T> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || ended_; });
    if (ready_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return std::nullopt;
    }
    T result = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return result;
  }

 private:
  void run() {
    std::exception_ptr failure;
    try {
      while (auto result = produce_()) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ready_.size() < depth_ || stopping_; });
        if (stopping_) return;
        ready_.push_back(std::move(*result));
        changed_.notify_all();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  }

  const std::function<std::optional<T>()> produce_;
  const size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;  // anything below
  std::deque<T> ready_;              // guarded by mutex_; run() fills, next() drains
  bool stopping_ = false;            // guarded by mutex_
  bool ended_ = false;               // guarded by mutex_; run() has put its last result
  std::exception_ptr failure_;       // guarded by mutex_; set with ended_
  std::thread thread_;               // last: starts when everything above is there
};

}  // namespace lockstep::data
