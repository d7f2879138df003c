// A thread that runs closures in the order in which they were given, each with a handle to
// wait on. After one has thrown, the thread is broken: that error is what every wait and
// every later submission throws.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

class WorkThread {
 public:
  WorkThread();
  // Finishes what was submitted, then ends.
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  Work submit(std::function<void()> body);

 private:
  struct Task;
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;  // guarded by mutex_: submit fills, run drains
  std::exception_ptr broken_;                // guarded by mutex_
  bool stop_ = false;                        // guarded by mutex_
  std::thread thread_;
};

}  // namespace lockstep::comm
