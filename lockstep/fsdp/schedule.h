// When the units of one model gather, free and reduce.
//
// Units are numbered in the order in which their modules are registered, the root first;
// that should be the order in which they run (another order costs memory and overlap, not
// correctness). Reductions are started from the last unit to the first whatever the order
// in which gradients become ready, so that all ranks start the same ones in the same order
// even when a parameter is unused on some of them; what was unused is reduced as zeros when
// backward ends.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "lockstep/fsdp/unit.h"

namespace lockstep::fsdp {

class Schedule {
 public:
  Schedule(const FsdpOptions& options, comm::Mesh& mesh) : options_(options), mesh_(mesh) {}
  void set_units(std::vector<std::shared_ptr<Unit>> units) { units_ = std::move(units); }
  const std::vector<std::shared_ptr<Unit>>& units() const { return units_; }

  // Whether the coming backwards belong to the last micro-batch of an optimizer step: only then
  // are gradients summed over replicas (FsdpOptions::elastic: over micro-batches), and parameters
  // that are kept (grad-op) freed.
  void set_last_micro_batch(bool last) { last_micro_batch_ = last; }

  // While on, units stay gathered after forwards without gradients. Turning it off frees them.
  void keep_gathered(bool keep);

  void enter_forward(Unit& unit);
  void leave_forward(Unit& unit, bool awaits_backward);
  void enter_backward(Unit& unit);  // a gradient of its output is there
  void gradients_complete();        // some unit's are

 private:
  bool keeps_always() const;
  bool keeps_after_forward(const Unit& unit) const;
  bool frees_in_backward() const;
  void start_reduction(Unit& unit);
  void finish_reductions_down_to(size_t left_running);
  void end_backward();

  const FsdpOptions& options_;
  comm::Mesh& mesh_;
  std::vector<std::shared_ptr<Unit>> units_;
  bool last_micro_batch_ = true;
  bool keep_gathered_ = false;
  bool in_backward_ = false;
  size_t num_reduced_ = 0;      // units already taken off the end of units_ in this backward
  std::deque<Unit*> reducing_;  // started, oldest first
};

}  // namespace lockstep::fsdp
