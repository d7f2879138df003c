// Which checkpoints are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lockstep/checkpoint/names.h"

namespace lockstep::checkpoint {

struct RetentionRule {
  int64_t keep_last = 2;              // the newest, by step; at least one
  std::optional<int64_t> keep_every;  // every one whose step is a multiple of it
  std::optional<int64_t> keep_best;   // those with the lowest held-out loss
};

struct Committed {
  CheckpointId id;
  std::optional<double> held_out_loss;  // absent: it was not measured at this step
};

// Those that the rule does not keep, oldest first. Call it with what is committed for certain: a
// save under way keeps nothing.
std::vector<CheckpointId> not_kept(std::vector<Committed> committed, const RetentionRule& rule);

}  // namespace lockstep::checkpoint
