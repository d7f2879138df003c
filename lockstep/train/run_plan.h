// What a recipe's "auto" and absent values become on the machine at hand, before anything starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/recipe.h"

namespace lockstep::train {

struct RunPlan {
  std::string run_dir;  // runs/<name> unless run.dir says otherwise
  int num_workers = 1;
  bool use_gpu = false;
  std::string strategy;      // full | grad_op | hybrid | hybrid_grad_op | none; auto is settled
  std::string compute;       // bf16 | fp32 | fp64
  int64_t accumulation = 1;  // micro-batches that a worker runs in one optimizer step

  Json to_json() const;
  std::string text() const;  // for people: "2 workers on CPU, sharding full, fp32, ..."
};

// This machine's; none are looked for when the recipe wants none.
int num_gpus_here(const Recipe& recipe);

// With the most workers that are allowed. `num_gpus`: those that `place` (in messages) shows. Throws
// ConfigError when GPUs are asked for and there are fewer than workers, when global_batch does not divide
// into whole micro-batches, and when so many workers cannot give determinism: elastic.
RunPlan plan_run(const Recipe& recipe, int num_gpus, std::string_view place = "this machine");

// The numbers of workers that the recipe allows, falling: one, unless scaling.num_workers is a range,
// of which those count that share the global batch evenly.
std::vector<int> allowed_worker_counts(const Recipe& recipe, int num_gpus,
                                       std::string_view place = "this machine");

// The same for a number of workers that somebody else has settled, on the GPU when `use_gpu`.
RunPlan plan_run_of(const Recipe& recipe, int num_workers, bool use_gpu);

}  // namespace lockstep::train
