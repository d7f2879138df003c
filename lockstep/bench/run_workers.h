// Starts the workers of a measurement on this machine.
#pragma once

#include <string>
#include <vector>

namespace lockstep::bench {

// Prints what rank 0 reports (bench/output.h), and on standard error the error of the worker that failed
// first. Returns the exit code: 0, or that worker's.
int run_workers(const std::vector<std::string>& worker_argv, int num_workers);

}  // namespace lockstep::bench
