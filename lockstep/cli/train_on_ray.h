// Runs of `lockstep bench transport` on a Ray cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/bench/compare_networks.h"
#include "lockstep/cli/recipe_arguments.h"
#include "lockstep/cluster/ray_client.h"

namespace lockstep::cli {

// Each run is a job, submitted as `lockstep submit` does, with `steps` steps and the network's variables
// among the env_vars of ray.runtime_env, so that driver, adapters and workers have them. It trains in
// <run.dir>/<network>-<number>, which this machine must see too: step times are read from there, and the
// folder is removed. `package`: as of submit_job().
//
// A run throws submit_job()'s errors; CommandError with the job's last words when it fails, and then leaves
// its folder; ConfigError when the folder cannot be seen from here; and InterruptedError, with the job
// stopped, on SIGINT, SIGTERM or SIGHUP.
bench::TrainRun train_on_ray(std::shared_ptr<cluster::RayClient> client, const RecipeArguments& recipe,
                             const std::string& package, int64_t steps);

}  // namespace lockstep::cli
