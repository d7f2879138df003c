// What makes a training what it is: a run that continues must agree on it; the rest (workers,
// sharding, checkpoints, logging) may change.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/recipe.h"
#include "lockstep/data/summary.h"
#include "lockstep/train/run_plan.h"

namespace lockstep::train {

// The recipe's own values by key ("optimizer.lr"), what was left to the machine as it was settled,
// files by their content. The number of steps belongs to it only where the learning rate depends on it.
Json run_identity(const Recipe& recipe, const RunPlan& plan, const data::DataSummary& data);

// One line for each key on which they differ, such as "optimizer.lr was 1e-05, is 2e-05 now".
std::vector<std::string> differences(const Json& saved, const Json& now);

}  // namespace lockstep::train
