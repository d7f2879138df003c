// What a rank spends its own time on in a step: everything but waiting for the others.
//
// It is the host's time. On a CPU that is the computing itself. On a GPU the host only hands out
// the work, so a slow disk, a crowded or throttled CPU and slow code of the train function show there,
// and a slow GPU does not: to see it the host would have to wait for the device between the phases,
// which costs every rank more than it tells.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>

namespace lockstep::train {

enum class Phase {
  kData,       // until the next micro-batch is there
  kForward,    // what the train function does with it
  kBackward,   // gradients, and their part of the sharding
  kOptimizer,  // the guard and the update
  kReport,     // from the update to the next micro-batch: metrics, and the train function's own
};
inline constexpr int kNumPhases = 5;
const char* to_text(Phase phase);

using PhaseTimes = std::array<double, kNumPhases>;  // milliseconds

// One thread, the one that trains.
class PhaseClock {
 public:
  // `own_time`: a clock that stands still while this rank waits; tests bring their own. The default
  // is steady time without comm::time_waited of the calling thread.
  explicit PhaseClock(std::function<std::chrono::nanoseconds()> own_time = nullptr);

  // Ends the phase under way, and begins `phase`.
  void enter(Phase phase);
  // Ends it; until the next `enter` time counts for none. For what is no part of a step, such as
  // evaluations, and where the host may wait for its own GPU.
  void pause();
  // What each phase took since the last call, or the start. The phase under way goes on.
  PhaseTimes take();

 private:
  const std::function<std::chrono::nanoseconds()> own_time_;
  std::chrono::nanoseconds since_{0};
  std::optional<Phase> phase_;
  PhaseTimes times_{};
};

}  // namespace lockstep::train
