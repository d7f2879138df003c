// What the ranks tell each other at the end of a step, in one small sum: the loss, whether a signal
// came to any of them, how far their saves are, rank 0's clock, and how long each took.
//
// (7 + 5 W) float64 from each of W ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/comm/mesh.h"
#include "lockstep/train/checkpoint_saver.h"
#include "lockstep/train/phase_clock.h"

namespace lockstep::train {

// Of one rank.
struct RankNews {
  int stop_signal = 0;  // SIGINT, SIGTERM or 0
  SaveStatus saving;
  bool half_hour_is_over = false;  // since the last checkpoint; rank 0's counts
  PhaseTimes times{};              // since the last exchange
};

// Of all of them, alike on every rank.
struct StepNews {
  double loss = 0;
  int stop_signal = 0;  // SIGTERM before SIGINT: its grace time runs
  SaveStatus saving;
  bool half_hour_is_over = false;
  std::vector<PhaseTimes> times;  // by rank
};

// Collective. `loss`: float64 scalar on the ranks' device, this rank's share. What is returned is on
// the device, which may not have done the sum yet.
at::Tensor exchange(comm::Mesh& mesh, const at::Tensor& loss, const RankNews& news);
// Reads what `exchange` returned; waits for the device.
StepNews read_news(const at::Tensor& sum, int world_size);

}  // namespace lockstep::train
