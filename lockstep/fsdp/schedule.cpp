#include "lockstep/fsdp/schedule.h"

#include <torch/csrc/autograd/engine.h>

namespace lockstep::fsdp {

// Nothing is sharded: to free what the rank holds alone would only mean casting it once more.
bool Schedule::keeps_always() const { return mesh_.shard_size() == 1; }

bool Schedule::keeps_after_forward(const Unit& unit) const {
  // Backward starts with the last unit, and the root encloses all others: freeing them
  // would only mean gathering them again at once.
  return keeps_always() || options_.strategy == Strategy::kGradOp || unit.index() == 0 ||
         unit.index() + 1 == static_cast<int>(units_.size());
}

void Schedule::enter_forward(Unit& unit) {
  if (!in_backward_) {
    mesh_.position().phase = "forward";
    mesh_.position().unit = unit.index();
  }
  unit.begin_gather();
  unit.finish_gather();
  if (in_backward_) return;  // a recomputation: backward's own prefetch is at work
  for (int ahead = 1; ahead <= options_.prefetch_units; ++ahead) {
    const size_t next = static_cast<size_t>(unit.index() + ahead);
    if (next < units_.size()) units_[next]->begin_gather();
  }
}

void Schedule::keep_gathered(bool keep) {
  keep_gathered_ = keep;
  if (keep) return;
  for (const auto& unit : units_) unit->release();
}

void Schedule::leave_forward(Unit& unit, bool awaits_backward) {
  if (in_backward_) return;  // a recomputation: backward frees the unit
  if (awaits_backward ? keeps_after_forward(unit) : keep_gathered_ || keeps_always()) return;
  unit.release();
  if (unit.index() == 0 && !awaits_backward) {
    for (const auto& prefetched : units_) prefetched->release();  // gathered ahead, but never run
  }
}

void Schedule::enter_backward(Unit& unit) {
  if (!in_backward_) {
    in_backward_ = true;
    num_reduced_ = 0;
    mesh_.position().phase = "backward";
    torch::autograd::Engine::get_default_engine().queue_callback([this] { end_backward(); });
  }
  mesh_.position().unit = unit.index();
  unit.begin_gather();
  unit.finish_gather();
  for (int ahead = 1; ahead <= options_.prefetch_units; ++ahead) {
    const int next = unit.index() - ahead;
    if (next > 0) units_[static_cast<size_t>(next)]->begin_gather();
  }
}

void Schedule::gradients_complete() {
  while (num_reduced_ < units_.size()) {
    Unit& next = *units_[units_.size() - 1 - num_reduced_];
    if (!next.complete()) return;
    start_reduction(next);
    ++num_reduced_;
  }
}

bool Schedule::frees_in_backward() const {
  return !keeps_always() && (options_.strategy == Strategy::kFull || last_micro_batch_);
}

void Schedule::start_reduction(Unit& unit) {
  if (!unit.trainable()) return;
  // Autograd is through with these and does not read them again; frozen ones may still carry
  // gradients to the unit's input.
  if (frees_in_backward()) unit.release_trainable();
  unit.begin_reduce();
  reducing_.push_back(&unit);
  finish_reductions_down_to(static_cast<size_t>(options_.reductions_in_flight));
}

void Schedule::finish_reductions_down_to(size_t left_running) {
  while (reducing_.size() > left_running) {
    reducing_.front()->finish_reduce(last_micro_batch_);
    reducing_.pop_front();
  }
}

void Schedule::end_backward() {
  for (; num_reduced_ < units_.size(); ++num_reduced_) {
    start_reduction(*units_[units_.size() - 1 - num_reduced_]);
  }
  finish_reductions_down_to(0);
  for (const auto& unit : units_) {
    if (frees_in_backward()) unit->release();
    if (last_micro_batch_) unit->all_reduce_replicas();
    unit->end_backward();
  }
  in_backward_ = false;
  mesh_.position().phase = "after backward";
  mesh_.position().unit = -1;
}

}  // namespace lockstep::fsdp
