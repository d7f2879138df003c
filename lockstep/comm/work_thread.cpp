#include "lockstep/comm/work_thread.h"

#include "lockstep/comm/wait_time.h"

namespace lockstep::comm {

struct WorkThread::Task : Work::State {
  std::function<void()> body;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;         // guarded by mutex
  std::exception_ptr error;  // guarded by mutex

  void finish(std::exception_ptr result) {
    body = nullptr;  // frees the tensors that it holds before anybody is told
    {
      const std::lock_guard lock(mutex);
      error = std::move(result);
      done = true;
    }
    finished.notify_all();
  }

  void wait() override {
    const CountedWait counted;
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return done; });
    if (error) std::rethrow_exception(error);
  }
};

WorkThread::WorkThread() : thread_([this] { run(); }) {}

WorkThread::~WorkThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Work WorkThread::submit(std::function<void()> body) {
  auto task = std::make_shared<Task>();
  task->body = std::move(body);
  {
    const std::lock_guard lock(mutex_);
    if (broken_) std::rethrow_exception(broken_);
    tasks_.push_back(task);
  }
  changed_.notify_all();
  return Work(task);
}

void WorkThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    std::exception_ptr error = broken_;
    lock.unlock();
    if (!error) {
      try {
        task->body();
      } catch (...) {
        error = std::current_exception();
      }
    }
    lock.lock();
    broken_ = error;
    lock.unlock();
    task->finish(error);
    lock.lock();
  }
}

}  // namespace lockstep::comm
