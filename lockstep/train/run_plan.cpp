#include "lockstep/train/run_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_rules.h"
#include "lockstep/comm/cuda_library.h"

namespace lockstep::train {
namespace {

const char* plural(int64_t count) { return count == 1 ? "" : "s"; }

void check_gpus(int num_workers, int num_gpus, std::string_view place) {
  if (num_gpus == 0) {
    throw ConfigError(
        fmt::format("scaling.use_gpu is true but {} shows no GPU (is its driver loaded, and "
                    "CUDA_VISIBLE_DEVICES not empty?). Set scaling.use_gpu=false to train on the CPU",
                    place));
  }
  if (num_workers > num_gpus) {
    throw ConfigError(
        fmt::format("scaling.num_workers is {} but {} shows {} GPU{}, and each worker needs one. Set "
                    "scaling.num_workers={}, or scaling.use_gpu=false to train on the CPU",
                    num_workers, place, num_gpus, plural(num_gpus), num_gpus));
  }
}

int64_t accumulation(const TrainConfig& train, int num_workers) {
  const int64_t rows = train.micro_batch * num_workers;
  if (train.global_batch % rows == 0) return train.global_batch / rows;
  const int64_t nearest = std::max<int64_t>(1, (train.global_batch + rows / 2) / rows) * rows;
  throw ConfigError(
      fmt::format("train.global_batch is {} rows, which {} worker{} with train.micro_batch {} cannot share "
                  "evenly: it must be a "
                  "multiple of {}. Set train.global_batch={}",
                  train.global_batch, num_workers, plural(num_workers), train.micro_batch, rows, nearest));
}

}  // namespace

int num_gpus_here(const Recipe& recipe) {
  return recipe.scaling.use_gpu == false ? 0 : comm::driver_device_count();
}

RunPlan plan_run_of(const Recipe& recipe, int num_workers, bool use_gpu) {
  RunPlan plan{.num_workers = num_workers, .use_gpu = use_gpu};
  plan.run_dir = recipe.run.dir.empty() ? "runs/" + recipe.name : recipe.run.dir;
  plan.strategy = recipe.sharding.strategy;
  if (plan.strategy == "auto") plan.strategy = num_workers > 1 ? "full" : "none";
  plan.compute = recipe.precision.compute;
  if (plan.compute.empty()) plan.compute = use_gpu ? "bf16" : "fp32";
  if (const auto refusal = elastic_refusal(recipe, num_workers)) throw ConfigError(*refusal);
  plan.accumulation = accumulation(recipe.train, num_workers);
  return plan;
}

std::vector<int> allowed_worker_counts(const Recipe& recipe, int num_gpus, std::string_view place) {
  const bool use_gpu = recipe.scaling.use_gpu.value_or(num_gpus > 0);
  if (!recipe.scaling.elastic) {
    const int64_t count = recipe.scaling.num_workers.value_or(use_gpu ? std::max(1, num_gpus) : 1);
    return {static_cast<int>(count)};
  }
  const auto [least, most] = *recipe.scaling.elastic;
  std::vector<int> counts;
  for (int64_t count = most; count >= least; --count) {
    if (use_gpu && count > num_gpus) continue;
    const bool shares_evenly = recipe.train.global_batch % (recipe.train.micro_batch * count) == 0;
    if (shares_evenly && !elastic_refusal(recipe, count)) counts.push_back(static_cast<int>(count));
  }
  if (counts.empty()) {
    throw ConfigError(fmt::format(
        "scaling.num_workers is [{}, {}], but {}", least, most,
        use_gpu && num_gpus < least
            ? fmt::format("{} shows {} GPU{}, and each worker needs one", place, num_gpus, plural(num_gpus))
            : fmt::format("no number in it shares the {} micro-batches of a step (train.global_batch / "
                          "train.micro_batch) evenly",
                          recipe.train.global_batch / recipe.train.micro_batch)));
  }
  return counts;
}

RunPlan plan_run(const Recipe& recipe, int num_gpus, std::string_view place) {
  const bool use_gpu = recipe.scaling.use_gpu.value_or(num_gpus > 0);
  const int num_workers = allowed_worker_counts(recipe, num_gpus, place).front();
  if (use_gpu) check_gpus(num_workers, num_gpus, place);
  return plan_run_of(recipe, num_workers, use_gpu);
}

Json RunPlan::to_json() const {
  return {{"run_dir", run_dir},   {"num_workers", num_workers}, {"use_gpu", use_gpu},
          {"strategy", strategy}, {"compute", compute},         {"accumulation", accumulation}};
}

std::string RunPlan::text() const {
  return fmt::format("{} worker{} on {}, sharding {}, {}, {} micro-batch{} a step; run directory {}",
                     num_workers, plural(num_workers), use_gpu ? "GPU" : "CPU", strategy, compute,
                     accumulation, accumulation == 1 ? "" : "es", run_dir);
}

}  // namespace lockstep::train
