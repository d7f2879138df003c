#include "lockstep/train/phase_clock.h"

#include <utility>

#include "lockstep/comm/wait_time.h"

namespace lockstep::train {
namespace {

std::chrono::nanoseconds own_time_of_this_thread() {
  return std::chrono::steady_clock::now().time_since_epoch() - comm::time_waited();
}

}  // namespace

const char* to_text(Phase phase) {
  switch (phase) {
    case Phase::kData:
      return "data";
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kReport:
      return "report";
  }
  return "?";
}

PhaseClock::PhaseClock(std::function<std::chrono::nanoseconds()> own_time)
    : own_time_(own_time ? std::move(own_time) : own_time_of_this_thread) {}

void PhaseClock::enter(Phase phase) {
  pause();
  phase_ = phase;
}

void PhaseClock::pause() {
  const std::chrono::nanoseconds now = own_time_();
  if (phase_) {
    times_[static_cast<size_t>(*phase_)] += std::chrono::duration<double, std::milli>(now - since_).count();
  }
  since_ = now;
  phase_.reset();
}

PhaseTimes PhaseClock::take() {
  if (const auto phase = phase_) enter(*phase);
  return std::exchange(times_, {});
}

}  // namespace lockstep::train
