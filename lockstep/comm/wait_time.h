// How long a thread has waited for other ranks: what is left of its time it spent itself.
#pragma once

#include <chrono>

namespace lockstep::comm {

// Of the calling thread, since it began: how long Work::wait and barrier have blocked it. What the
// collectives themselves take, their sums and copies, is in it. On a GPU nearly nothing: there waits
// do not block.
std::chrono::nanoseconds time_waited();

// While one of these lives, its thread waits. They do not nest.
class CountedWait {
 public:
  CountedWait() = default;
  CountedWait(const CountedWait&) = delete;
  CountedWait& operator=(const CountedWait&) = delete;
  ~CountedWait();

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep::comm
