// What the data pipeline hands to training: packed rows with their borders.
// B rows, T = sequence_length.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::data {

struct Batch {
  at::Tensor tokens;        // [B, T] int64
  at::Tensor positions;     // [B, T] int64, restarting at 0 in each document
  at::Tensor document_ids;  // [B, T] int32, rising along a row; -1: padding
  at::Tensor targets;       // [B, T] int64: what position t predicts (next token of its document); -100: none

  int64_t tokens_trained = 0;    // targets other than -100 in this micro-batch
  int64_t step_tokens = 0;       // the same over the whole global batch (all ranks and micro-batches)
  int64_t step = 0;              // optimizer step that it belongs to, from 0
  int64_t micro_index = 0;       // 0 .. accumulation - 1
  bool last_micro_batch = true;  // the optimizer steps after it
  int64_t first_row = 0;         // position in the run's row order, for the record
};

}  // namespace lockstep::data
