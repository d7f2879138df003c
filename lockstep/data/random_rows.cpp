#include "lockstep/data/random_rows.h"

#include "lockstep/data/keyed_random.h"

namespace lockstep::data {

void RandomRows::fill(int64_t row, RowView out) const {
  const auto step = uint64_t(row / global_batch_), sample = uint64_t(row % global_batch_);
  for (int64_t t = 0; t < sequence_length_; ++t) {
    out.tokens[t] = int64_t(below(keyed_random({seed_, step, sample, uint64_t(t)}), uint64_t(vocab_size_)));
    out.positions[t] = t;
    out.document_ids[t] = 0;
  }
  for (int64_t t = 0; t + 1 < sequence_length_; ++t) out.targets[t] = out.tokens[t + 1];
  out.targets[sequence_length_ - 1] = kNoTarget;
}

}  // namespace lockstep::data
