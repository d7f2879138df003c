#include "lockstep/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"

namespace lockstep::optim {
namespace {

// How far `step` is on the way from `begin` (0) to `end` (1).
double progress(int64_t step, int64_t begin, int64_t end) {
  if (step <= begin) return 0;
  return step >= end ? 1 : double(step - begin) / double(end - begin);
}

// The share of (peak - low) that is left: 1 before the decay, 0 at its end.
double decay(const ScheduleConfig& config, int64_t step, int64_t total_steps) {
  if (config.name == "constant") return 1;
  if (config.name == "linear") return 1 - progress(step, config.warmup_steps, total_steps);
  if (config.name == "cosine") {
    const double x = progress(step, config.warmup_steps, total_steps);
    return (1 + std::cos(std::numbers::pi * x)) / 2;
  }
  if (config.name == "wsd") {
    const int64_t decay_begin = std::max(config.warmup_steps, total_steps - (total_steps + 9) / 10);
    return 1 - progress(step, decay_begin, total_steps);
  }
  throw ConfigError(
      fmt::format("schedule.name: unknown schedule '{}': use constant, linear, cosine or wsd", config.name));
}

}  // namespace

double learning_rate(const ScheduleConfig& config, double peak_lr, int64_t step, int64_t total_steps) {
  LOCKSTEP_CHECK(step >= 0 && total_steps >= 1) << "step " << step << " of " << total_steps;
  if (config.min_lr > peak_lr) {
    throw ConfigError(
        fmt::format("schedule.min_lr: {} is above optimizer.lr, {}: lower it or raise optimizer.lr",
                    config.min_lr, peak_lr));
  }
  const double share = decay(config, step, total_steps);
  if (step < config.warmup_steps) return peak_lr * double(step + 1) / double(config.warmup_steps);
  // Exactly the peak where nothing has decayed: constant must not drift by rounding.
  return share == 1 ? peak_lr : config.min_lr + (peak_lr - config.min_lr) * share;
}

}  // namespace lockstep::optim
