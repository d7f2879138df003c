// What happens at the end of an optimizer step, decided in one place and alike on all ranks.
#pragma once

#include <cstdint>

#include "lockstep/base/recipe.h"

namespace lockstep::train {

struct StepFacts {
  int64_t steps_done = 0;           // optimizer steps finished, this one included
  int64_t steps_total = 0;          // of the whole run
  int64_t steps_of_this_start = 0;  // since the workers started
  bool stop_requested = false;      // a signal came to some rank
  bool half_hour_is_over = false;   // since the last checkpoint or the start, by rank 0's clock
};

struct StepVerdict {
  bool evaluate = false;
  bool save = false;
  bool stop = false;
};

StepVerdict verdict_after(const StepFacts& facts, const Recipe& recipe);

}  // namespace lockstep::train
