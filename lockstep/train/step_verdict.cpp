#include "lockstep/train/step_verdict.h"

namespace lockstep::train {

StepVerdict verdict_after(int64_t steps_done, int64_t steps_total, int64_t evaluation_interval_steps,
                          bool stop_requested) {
  StepVerdict verdict;
  verdict.stop = stop_requested;
  // After the last step comes the evaluation that every run ends with.
  verdict.evaluate = !stop_requested && evaluation_interval_steps > 0 && steps_done < steps_total &&
                     steps_done % evaluation_interval_steps == 0;
  return verdict;
}

}  // namespace lockstep::train
