// What a checkpoint holds of a model and its optimizer, as slices that know nothing of sharding:
//
//   weights/<parameter>          the master values, frozen ones too
//   exp_avg/<parameter>, ...     the optimizer's state, under its own words
//   buffers/<buffer>             whole
//
// and as numbers, how many updates each parameter has had.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/checkpoint/shard_plan.h"
#include "lockstep/fsdp/sharded_module.h"
#include "lockstep/optim/adamw.h"

namespace lockstep::train {

struct StateSlice {
  checkpoint::Slice slice;
  at::Tensor values;  // [slice.length], a view of the living state
};

class TrainingState {
 public:
  // Both must outlive it. Throws ConfigError for a buffer of a dtype that no checkpoint has.
  TrainingState(fsdp::ShardedModule& model, optim::AdamW& optimizer);

  // This rank's share: the shares of all ranks hold every element once.
  std::vector<StateSlice> share() const;
  // All that this rank holds; replicas hold the same.
  std::vector<StateSlice> all() const;

  // {"<parameter>": updates}, alike on every rank.
  Json updates() const;
  // Throws ConfigError for a parameter that is missing, or when those of one shard differ.
  void set_updates(const Json& updates);

 private:
  fsdp::ShardedModule& model_;
  optim::AdamW& optimizer_;
};

}  // namespace lockstep::train
