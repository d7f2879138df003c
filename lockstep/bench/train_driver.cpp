#include "lockstep/bench/run_workers.h"
#include "lockstep/bench/train_bench.h"
#include "lockstep/models/config.h"
#include "lockstep/train/run_plan.h"

namespace lockstep::bench {

int run_train_driver(const TrainOptions& options, const std::vector<std::string>& worker_argv) {
  const Recipe recipe = options.recipe();
  models::ModelSpec::load(options.model);
  if (!options.stand_for)
    train::plan_run(recipe, train::num_gpus_here(recipe));  // refuses, before workers start
  return run_workers(worker_argv, options.num_workers);
}

}  // namespace lockstep::bench
