// `lockstep bench allreduce`: the driver that starts a worker for each rank, and the worker.
#pragma once

#include <string>
#include <vector>

#include "lockstep/bench/options.h"
#include "lockstep/launch/worker_env.h"

namespace lockstep::bench {

// Starts the workers on this machine with `worker_argv` (argv[0]: this program's path), prints what rank 0
// reports, and returns the exit code: 0, or that of the worker that failed first, whose error it prints.
// Throws ConfigError when GPUs are asked for that are not there.
int run_allreduce_driver(const AllreduceOptions& options, const std::vector<std::string>& worker_argv);

// One rank, to its end. Throws GuardError when a collective gave wrong data, CommError or HangError when a
// peer is lost, ConfigError for a GPU that is asked for and not there.
int run_allreduce_worker(const AllreduceOptions& options, const launch::WorkerEnv& env);

}  // namespace lockstep::bench
