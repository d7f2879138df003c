// Which rows make a step, and which rank takes which of them.
//
// The run's rows g = 0, 1, 2, ... are taken in order, global_batch a step: step s has rows
// [s * global_batch, (s + 1) * global_batch), whatever the ranks, across the borders of
// epochs. So no step is short, and the position in the data is one number.
//
// A global batch is M = global_batch / micro_batch micro-batches of consecutive rows. Rank r
// of W takes the contiguous block [r * M/W, (r+1) * M/W) of them, in order: its accumulation
// is M / W. Micro-batch m is the same rows for any W.
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
    return step * global_batch_ + (rank_ * accumulation_ + micro_index) * micro_batch_;
  }

 private:
  int64_t global_batch_, micro_batch_, rank_, accumulation_;
};

// Steps for `epochs` passes over R = rows_per_epoch rows: ceil(epochs * R / global_batch), at
// least one. Rows of the last step that lie beyond come from the next epoch's order.
int64_t steps_for_epochs(double epochs, int64_t rows_per_epoch, int64_t global_batch);

}  // namespace lockstep::data
