// Runs a recipe on this machine: plans, makes or continues the run directory, starts the workers,
// starts them again after a failure, shows their progress and says how it ended. What `lockstep train` and
// users' own programs do as a driver.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/base/recipe.h"
#include "lockstep/launch/worker_env.h"

namespace lockstep::train {

struct DriverOptions {
  std::string recipe_path;
  std::vector<std::string> overrides;    // "train.steps=50"
  std::vector<std::string> worker_argv;  // how a worker is started; argv[0] a path
  std::string from;                      // --from: WorkerEnv::continue_from
  bool json = false;                     // metrics and events as JSON lines on standard output
  bool quiet = false;                    // only warnings and errors
  bool dry_run = false;                  // print the plan and the effective recipe; make nothing
};

// Returns the exit code of the run (launch::run_workers); how it failed is said on standard error.
// Throws ConfigError for a recipe or plan that cannot be, and IoError for a run directory that
// cannot be made: nothing is left behind then.
int run_driver(const DriverOptions& options);

}  // namespace lockstep::train
