// `lockstep bench train`: the driver that starts the workers, and the worker.
#pragma once

#include <string>
#include <vector>

#include "lockstep/bench/train_options.h"
#include "lockstep/launch/worker_env.h"

namespace lockstep::bench {

// Starts the workers on this machine with `worker_argv` (argv[0]: this program's path), prints what rank 0
// reports, and returns the exit code as run_allreduce_driver does. Throws ConfigError for a model that
// cannot be described, a recipe key that does not hold and GPUs that are not there.
int run_train_driver(const TrainOptions& options, const std::vector<std::string>& worker_argv);

// One rank, to its end: random weights and tokens, and the step of `lockstep train` without its records,
// data and checkpoints: forward, backward, clipping, AdamW. A step is timed by the host's clock from an idle
// device to an idle device. Throws what training throws.
int run_train_worker(const TrainOptions& options, const launch::WorkerEnv& env);

}  // namespace lockstep::bench
