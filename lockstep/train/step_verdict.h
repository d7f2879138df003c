// What happens at the end of an optimizer step, decided in one place and alike on all ranks.
#pragma once

#include <cstdint>

namespace lockstep::train {

struct StepVerdict {
  bool evaluate = false;
  bool stop = false;  // a signal came to some rank
};

// `steps_done`: optimizer steps finished, this one included.
StepVerdict verdict_after(int64_t steps_done, int64_t steps_total, int64_t evaluation_interval_steps,
                          bool stop_requested);

}  // namespace lockstep::train
