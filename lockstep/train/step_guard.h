// What may not enter the weights: a step whose loss or gradient is not finite, or whose loss jumps.
// Such a step is skipped, on all ranks alike, as if it had not been; too many in a row end the run.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "lockstep/base/json.h"
#include "lockstep/base/recipe.h"

namespace lockstep::train {

class StepGuard {
 public:
  explicit StepGuard(const GuardConfig& config) : config_(config) {}

  // Why this step shall be skipped; nothing when it may be used. `loss` and `grad_norm` are those of
  // the whole step, alike on all ranks.
  std::optional<std::string> judge(double loss, double grad_norm);

  // Whether the last judged step was one more in a row than the recipe allows.
  bool exceeded() const { return skipped_in_a_row_ > config_.max_skipped; }

  // For checkpoints: what it remembers of former steps.
  Json state() const;
  void load_state(const Json& state);

 private:
  std::optional<std::string> reason_to_skip(double loss, double grad_norm) const;

  const GuardConfig& config_;
  int64_t skipped_in_a_row_ = 0;
  std::deque<double> recent_losses_;  // of steps that were used, oldest first
};

}  // namespace lockstep::train
