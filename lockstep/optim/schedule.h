// Learning-rate schedules: pure functions of the optimizer step, so that they do not depend
// on ranks, micro-batches or on how often a run was continued.
//
// s = step (0 is the first), T = total steps, W = warmup_steps, peak = optimizer.lr,
// low = min_lr.
//
//   warmup,  s < W:   peak * (s + 1) / W          rises from near 0, whatever min_lr is
//   constant:         peak
//   linear:           low + (peak - low) * (1 - x)
//   cosine:           low + (peak - low) * (1 + cos(pi * x)) / 2
//                     where x = (s - W) / (T - W)
//   wsd:              peak, and over the last D = ceil(T / 10) steps (at most T - W)
//                     low + (peak - low) * (1 - x) where x = (s - (T - D)) / D
//
// x reaches 1 only at s = T, one past the last step: with min_lr = 0 no step is wasted on a
// rate of zero. Past T the rate stays at its end value.
#pragma once

#include <cstdint>

#include "lockstep/base/recipe.h"

namespace lockstep::optim {

// Throws ConfigError for an unknown schedule.name or a min_lr above `peak_lr`. CHECKs
// step >= 0 and total_steps >= 1.
double learning_rate(const ScheduleConfig& config, double peak_lr, int64_t step, int64_t total_steps);

}  // namespace lockstep::optim
