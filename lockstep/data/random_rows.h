// data.source: random. Rows without end of evenly distributed tokens, each row one document;
// what a speed measurement needs, and nothing to learn from.
#pragma once

#include <cstdint>

#include "lockstep/data/row.h"

namespace lockstep::data {

class RandomRows : public RowSource {
 public:
  // Token t of row `row` depends on (seed, row / global_batch: the step, row % global_batch:
  // the sample, t) alone.
  RandomRows(int64_t sequence_length, int64_t vocab_size, int64_t global_batch, uint64_t seed)
      : sequence_length_(sequence_length),
        vocab_size_(vocab_size),
        global_batch_(global_batch),
        seed_(seed) {}

  int64_t sequence_length() const override { return sequence_length_; }
  int64_t trained_tokens(int64_t) const override { return sequence_length_ - 1; }
  void fill(int64_t row, RowView out) const override;

 private:
  int64_t sequence_length_, vocab_size_, global_batch_;
  uint64_t seed_;
};

}  // namespace lockstep::data
