// A recipe: everything that makes a run what it is, read from YAML into plain structs and
// checked in full before anything starts. The key table is docs/recipe.md.
//
// Reading refuses, with file, line, key, value and way out:
//  - an unknown key (naming the nearest known one) and a value of the wrong type or range,
//  - a key that would have no effect with the other settings,
//  - a key or value whose part is not built yet ("not supported yet"): never ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep {

struct ModelConfig {
  std::string source;    // Hugging Face folder; empty only when the train function makes its own model
  std::string revision;  // commit; only with a Hugging Face name
  std::string init = "pretrained";  // pretrained | random (seeded by train.seed)
};

struct DataSourceConfig {
  std::string path;  // JSONL file
  double weight = 1.0;
  std::string format;  // by file name when empty
};

struct DataConfig {
  std::string source;  // "random": seeded random tokens instead of files
  std::vector<DataSourceConfig> sources;
  std::string shape = "text";          // text | prompt_completion | messages
  std::string train_on = "assistant";  // assistant | all
  int64_t sequence_length = 2048;      // tokens a row
  std::string packing = "best_fit";    // best_fit | none
  std::string held_out;                // a share such as "0.05", or a file; empty: none
};

struct TrainConfig {
  std::optional<int64_t> steps;  // optimizer steps; exactly one of steps and epochs
  std::optional<double> epochs;
  int64_t global_batch = 8;  // rows an optimizer step, over all ranks
  int64_t micro_batch = 1;   // rows a forward on one rank
  uint64_t seed = 0;
  std::optional<int64_t> stop_after;  // steps of this start: then a checkpoint, and the end
  bool cuda_graphs = true;            // where they work (models/decoder.h)
};

struct OptimizerConfig {
  std::string name = "adamw";
  double lr = 1e-5;
  double beta1 = 0.9, beta2 = 0.999;  // optimizer.betas: [beta1, beta2]
  double eps = 1e-8;
  double weight_decay = 0.01;
  double max_grad_norm = 1.0;  // 0: no clipping
};

struct ScheduleConfig {
  std::string name = "constant";  // constant | linear | cosine | wsd
  int64_t warmup_steps = 0;
  double min_lr = 0.0;
};

struct PrecisionConfig {
  std::string compute;          // bf16 | fp32 | fp64; empty: bf16 on GPU, fp32 on CPU
  std::string master = "fp32";  // fp32 | bf16; fp64 compute has fp64 masters
  std::string reduce;           // bf16 | fp32: what gradients travel as; empty: as they are computed
};

struct ShardingConfig {
  std::string strategy = "auto";             // auto | full | grad_op | hybrid | hybrid_grad_op | none
  int64_t wrap_min_parameters = 10'000'000;  // sharding.wrap.min_parameters
  std::vector<std::string> wrap_modules;  // sharding.wrap.modules: type names; when set, the size is not used
  std::vector<int64_t> mesh;
  bool peer_copies = true;         // gathers read other GPUs' memory where they reach it (comm/peer_memory.h)
  std::string recompute = "none";  // none | selective | block | auto
};

struct ScalingConfig {
  std::optional<int64_t> num_workers;                  // absent: auto (GPUs found, else 1)
  std::optional<std::pair<int64_t, int64_t>> elastic;  // [min, max]
  std::optional<bool> use_gpu;                         // absent: when there are any
};

struct CheckpointConfig {
  std::optional<int64_t> interval_steps;  // absent: one every half hour
  int64_t keep_last = 2;                  // the newest
  std::optional<int64_t> keep_every;      // steps: every one that is a multiple
  std::optional<int64_t> keep_best;       // those with the lowest held-out loss
  std::string storage;                    // empty: the run's own folder; else <storage>/<name>
};

struct EvaluationConfig {
  std::optional<int64_t> interval_steps;  // absent: before and after training only
  std::vector<std::string> tasks, accept;
  std::vector<std::string> prompts;  // answered before and after training, to look at
  int64_t max_new_tokens = 48;       // for each prompt
};

struct FailureConfig {
  int64_t max_failures = 0;                // restarts of the workers in one run of the driver
  std::chrono::seconds hang_timeout{600};  // also the longest wait for a peer
};

struct GuardConfig {
  int64_t max_skipped = 0;  // steps in a row that may be skipped; one more stops the run
  double loss_spike = 0;    // skip a step whose loss is above this many times the recent median; 0: never
};

struct NetworkConfig {
  std::string require = "any";  // any | efa | ib | roce
  double min_efficiency = 0;
  bool hard_guard = false;
};

// What Ray is told of each job and worker, in Ray's own words. Without effect where Ray does not start the
// run.
struct RayConfig {
  Json runtime_env;           // a mapping: pip, env_vars, ...
  Json resources_per_worker;  // a mapping of numbers, over one CPU, and one GPU when the run uses them
};

struct RunConfig {
  std::string dir;  // the run\'s own folder; load() and parse() set runs/<name> when it is not given
  std::string notes;
  std::vector<std::string> tags;
};

struct Recipe {
  std::string name;
  RunConfig run;
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  PrecisionConfig precision;
  ShardingConfig sharding;
  ScalingConfig scaling;
  CheckpointConfig checkpoint;
  EvaluationConfig evaluation;
  FailureConfig failure;
  GuardConfig guard;
  NetworkConfig network;
  RayConfig ray;
  std::string determinism = "none";  // none | run | elastic

  // Reads `path` and applies `overrides` ("train.steps=50"; "train.epochs=" takes the key away)
  // on top. Relative paths inside the recipe are taken from the working directory; folders and
  // files that it names must be there. Throws ConfigError.
  static Recipe load(const std::string& path, const std::vector<std::string>& overrides = {});
  // The same from text, looking at no file; `origin` stands in messages for the file name.
  static Recipe parse(const std::string& yaml, const std::string& origin,
                      const std::vector<std::string>& overrides = {});

  // Every key with its effective value, in the table's order: what record.json holds. Null for
  // what is not set or has no effect with the other settings; without its nulls it is a recipe.
  Json effective() const;
};

}  // namespace lockstep
