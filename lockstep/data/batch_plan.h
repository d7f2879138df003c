// Which rows make a step, and which rank takes which of them.
//
// The run's rows g = 0, 1, 2, ... are taken in order, global_batch a step: step s has rows
// [s * global_batch, (s + 1) * global_batch), whatever the ranks, across the borders of
// epochs. So no step is short, and the position in the data is one number.
//
// A global batch is M = global_batch / micro_batch micro-batches of consecutive rows;
// micro-batch m is the same rows for any W. The W ranks take them in turn: m = i * W + r is the
// i-th of rank r, whose accumulation is M / W. So the ranks work on neighbours at the same time,
// and a sum over ranks at each i, then over i, can be one binary tree over m whatever W is
// (fsdp/gradient_tree.h).
#pragma once

#include <cstdint>

namespace lockstep::data {

class BatchPlan {
 public:
  // Throws ConfigError unless global_batch is a multiple of micro_batch * num_ranks. CHECKs
  // 0 <= rank < num_ranks.
  BatchPlan(int64_t global_batch, int64_t micro_batch, int64_t rank, int64_t num_ranks);

  int64_t global_batch() const { return global_batch_; }
  int64_t micro_batch() const { return micro_batch_; }
  int64_t accumulation() const { return accumulation_; }
  // First of the micro_batch() rows that this rank takes as its micro-batch `micro_index`,
  // 0 <= micro_index < accumulation().
  int64_t first_row(int64_t step, int64_t micro_index) const {
    return step * global_batch_ + (micro_index * num_ranks_ + rank_) * micro_batch_;
  }

 private:
  int64_t global_batch_, micro_batch_, rank_, num_ranks_, accumulation_;
};

// Steps for `epochs` passes over R = rows_per_epoch rows: ceil(epochs * R / global_batch), at
// least one. Rows of the last step that lie beyond come from the next epoch's order.
int64_t steps_for_epochs(double epochs, int64_t rows_per_epoch, int64_t global_batch);

}  // namespace lockstep::data
