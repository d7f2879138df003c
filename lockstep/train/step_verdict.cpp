#include "lockstep/train/step_verdict.h"

namespace lockstep::train {
namespace {

bool is_multiple(int64_t steps, std::optional<int64_t> interval) {
  return interval && steps % *interval == 0;
}

}  // namespace

StepVerdict verdict_after(const StepFacts& facts, const Recipe& recipe) {
  const bool last = facts.steps_done >= facts.steps_total;
  const auto interval = recipe.checkpoint.interval_steps;
  const auto stop_after = recipe.train.stop_after;
  StepVerdict verdict;
  verdict.stop = !last && (facts.stop_requested || (stop_after && facts.steps_of_this_start >= *stop_after));
  // A run that saves at all also saves its end, to be continued with more steps.
  verdict.save =
      verdict.stop || (interval ? last || is_multiple(facts.steps_done, interval) : facts.half_hour_is_over);
  // After the last step comes the evaluation that every run ends with.
  verdict.evaluate =
      !last && !facts.stop_requested && is_multiple(facts.steps_done, recipe.evaluation.interval_steps);
  return verdict;
}

}  // namespace lockstep::train
