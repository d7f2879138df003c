// A unit: one module (and what lies under it, except other units) whose parameters are
// gathered before its forward and its backward, freed after each, and whose gradients are
// reduced once the last of them is there.
//
// Thread rule: called by the thread that runs forward, and during backward by autograd's
// thread for the device, never at the same time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lockstep/fsdp/flat_shard.h"
#include "lockstep/nn/module.h"

namespace lockstep::fsdp {

class Schedule;

class Unit : public nn::ForwardHooks, public std::enable_shared_from_this<Unit> {
 public:
  // `schedule` outlives the unit. `shards`: the trainable parameters and the frozen ones.
  Unit(std::string name, int index, std::vector<std::unique_ptr<FlatShard>> shards, Schedule& schedule);

  // Watches the gradients of the parameters; after they are all adopted.
  void watch_gradients();

  void before_forward() override;
  void after_forward(const std::vector<at::Tensor>& outputs) override;
  void abandon_forward() noexcept override;

  const std::string& name() const { return name_; }  // of the module; "" is the root
  int index() const { return index_; }
  const std::vector<std::unique_ptr<FlatShard>>& shards() const { return shards_; }
  int64_t numel() const;
  bool trainable() const { return num_trainable_ > 0; }

  void begin_gather();
  void finish_gather();
  void release();
  void release_trainable();
  void begin_reduce();
  void finish_reduce(bool last_micro_batch);
  void all_reduce_replicas();
  // All gradients of this backward are in.
  bool complete() const { return num_ready_ == num_trainable_; }
  void end_backward();

 private:
  void gradient_ready(FlatShard& shard, size_t i);

  std::string name_;
  int index_;
  std::vector<std::unique_ptr<FlatShard>> shards_;
  Schedule& schedule_;
  size_t num_trainable_ = 0;
  size_t num_ready_ = 0;                  // parameters whose gradient came in this backward
  std::vector<std::vector<bool>> ready_;  // which ones, by shard and parameter
  std::vector<std::shared_ptr<void>> gradient_accumulators_;  // autograd itself holds them weakly
};

}  // namespace lockstep::fsdp
