// How long each of several steps in a row takes, without waiting between them: a training run does not
// either, and while a GPU is still busy with one step the host prepares the next.
#pragma once

#include <c10/core/Event.h>

#include <chrono>
#include <deque>
#include <vector>

namespace lockstep::bench {

class StepClock {
 public:
  explicit StepClock(c10::Device device) : device_(device) {}

  // A step is enqueued, on the current stream of a GPU; the first call is the begin of the first step.
  void mark();
  // From each mark to the next, in ms; waits until they are done.
  std::vector<double> step_ms() const;

 private:
  c10::Device device_;
  std::deque<c10::Event> on_gpu_;
  std::vector<std::chrono::steady_clock::time_point> on_cpu_;
};

}  // namespace lockstep::bench
