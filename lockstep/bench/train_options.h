// What `lockstep bench train` is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/recipe.h"

namespace lockstep::bench {

struct TrainOptions {
  std::string model;                   // folder with config.json; no weights are read
  int64_t batch = 8;                   // rows of a micro-batch on one worker
  int64_t sequence_length = 2048;      // tokens a row
  int steps = 15;                      // timed
  int warmup = 5;                      // before those
  int num_workers = 1;                 // on this machine
  std::optional<int> stand_for;        // one worker is rank 0 of so many, and nothing is sent
  std::vector<std::string> overrides;  // keys of the recipe: "determinism=run"
  std::optional<double> floor_ms;      // what a step would take at least, measured elsewhere
  std::string trace;                   // where worker 0 writes a trace of one step more; empty: nowhere
  bool json = false;

  // Throws ConfigError naming the option, its value and what it takes.
  void validate() const;
  // The recipe that a run of these steps would have: one micro-batch a worker and step, unless
  // train.global_batch is among the overrides. Throws ConfigError.
  Recipe recipe() const;
  int world_size() const { return stand_for.value_or(num_workers); }
};

}  // namespace lockstep::bench
