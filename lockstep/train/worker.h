// The life of one worker process, from its environment to its exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/launch/worker_env.h"

namespace lockstep::train {

class TrainContext;
using TrainFunction = std::function<void(TrainContext&)>;

// Trains rank `env.rank`'s shard of the recipe with `train_func` (fine_tune.h by default) and
// returns the exit code: 0, or 130 and 12 when SIGINT or SIGTERM ended the run after a step.
// `command`: argv, for the record. Throws Error.
int run_worker(const launch::WorkerEnv& env, const std::string& recipe_path,
               const std::vector<std::string>& overrides, const std::vector<std::string>& command,
               const TrainFunction& train_func);

}  // namespace lockstep::train
