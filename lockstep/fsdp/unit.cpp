#include "lockstep/fsdp/unit.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "lockstep/fsdp/schedule.h"
#include "lockstep/nn/recompute.h"

namespace lockstep::fsdp {

Unit::Unit(std::string name, int index, std::vector<std::unique_ptr<FlatShard>> shards, Schedule& schedule)
    : name_(std::move(name)), index_(index), shards_(std::move(shards)), schedule_(schedule) {
  for (const auto& shard : shards_) {
    if (shard->trainable()) num_trainable_ += shard->size();
    ready_.emplace_back(shard->size(), false);
  }
}

void Unit::watch_gradients() {
  using torch::autograd::variable_list;
  for (const auto& shard : shards_) {
    if (!shard->trainable()) continue;
    for (size_t i = 0; i < shard->size(); ++i) {
      auto accumulator = torch::autograd::impl::grad_accumulator(shard->parameter(i));
      accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [unit = weak_from_this(), flat = shard.get(), i](const variable_list& outputs,
                                                           const variable_list&) {
            if (const auto alive = unit.lock()) alive->gradient_ready(*flat, i);
            return outputs;
          }));
      // Its type is an intrusive pointer or a shared one, by libtorch's version.
      gradient_accumulators_.push_back(std::make_shared<decltype(accumulator)>(accumulator));
    }
  }
}

void Unit::before_forward() { schedule_.enter_forward(*this); }

void Unit::after_forward(const std::vector<at::Tensor>& outputs) {
  bool awaits_backward = nn::is_to_be_recomputed();  // then backward comes through the second forward
  if (at::GradMode::is_enabled()) {
    for (const auto& output : outputs) {
      if (!output.requires_grad()) continue;
      awaits_backward = true;
      output.register_hook([unit = weak_from_this()](const at::Tensor&) {
        if (const auto alive = unit.lock()) alive->schedule_.enter_backward(*alive);
      });
    }
  }
  schedule_.leave_forward(*this, awaits_backward);
}

void Unit::abandon_forward() noexcept {
  try {
    release();
  } catch (const std::exception&) {
    // A gather under way failed too; the forward's own error is the one to report.
  }
}

int64_t Unit::numel() const {
  int64_t total = 0;
  for (const auto& shard : shards_) total += shard->layout().numel();
  return total;
}

void Unit::begin_gather() {
  for (const auto& shard : shards_) shard->begin_gather();
}

void Unit::finish_gather() {
  for (const auto& shard : shards_) shard->finish_gather();
}

void Unit::release() {
  for (const auto& shard : shards_) shard->release();
}

void Unit::release_trainable() {
  for (const auto& shard : shards_) {
    if (shard->trainable()) shard->release();
  }
}

void Unit::begin_reduce() {
  for (const auto& shard : shards_) {
    if (shard->trainable()) shard->begin_reduce();
  }
}

void Unit::finish_reduce(bool last_micro_batch) {
  for (const auto& shard : shards_) {
    if (shard->trainable()) shard->finish_reduce(last_micro_batch);
  }
}

void Unit::all_reduce_replicas() {
  for (const auto& shard : shards_) {
    if (shard->trainable()) shard->all_reduce_replicas();
  }
}

void Unit::gradient_ready(FlatShard& shard, size_t i) {
  shard.take_gradient(i);
  for (size_t s = 0; s < shards_.size(); ++s) {
    if (shards_[s].get() != &shard || ready_[s][i]) continue;
    ready_[s][i] = true;
    ++num_ready_;
  }
  if (complete()) schedule_.gradients_complete();
}

void Unit::end_backward() {
  num_ready_ = 0;
  for (auto& flags : ready_) flags.assign(flags.size(), false);
}

}  // namespace lockstep::fsdp
