// Does a step of a run again, from the nearest checkpoint before it, and compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::train {

struct ReplayOptions {
  std::string run;   // its folder
  int64_t step = 0;  // optimizer step, from 1
};

struct ReplayedValue {
  std::string name;
  Json recorded, replayed;  // null: not known
  bool equal = false;
};

struct Replay {
  int64_t from_step = 0;  // of the checkpoint that it began with; 0: the run's beginning
  int num_workers = 0;
  std::vector<ReplayedValue> values;  // loss, grad_norm, ..., and the saved weights where the run has them

  bool equal() const;
};

// Trains from the checkpoint to the step with the run's own recipe and number of workers, in a
// temporary folder, as `lockstep` (the program at `program`) would. Throws ConfigError for a step
// that the run has not done, or a run that another program trained; what the training throws.
Replay replay(const ReplayOptions& options, const std::string& program);

}  // namespace lockstep::train
