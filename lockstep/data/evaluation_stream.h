// This rank's batches of the held-out rows: over all ranks every row exactly once, for any
// number of them, and nothing repeated to come out even.
//
// The N rows in order make ceil(N / B) batches of B = train.micro_batch; the last one is
// filled up with rows of padding. Each rank has the same number of batches, ceil(ceil(N / B)
// / W), rank r the r-th block of them; where there is no batch left, one of padding alone, so
// that collectives inside the model still match.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lockstep/data/batch.h"
#include "lockstep/data/dataset.h"

namespace lockstep::data {

class EvaluationStream {
 public:
  // One pass. CHECKs that the dataset has held-out rows.
  EvaluationStream(std::shared_ptr<const Dataset> dataset, int rank, int num_ranks);

  // The next batch, then nothing. `step_tokens` is the trained tokens of all held-out rows:
  // the loss is the sum over all ranks and batches, divided by it. `micro_index` counts this
  // rank's batches; `first_row` is a row of the held-out pass.
  std::optional<Batch> next();

 private:
  std::shared_ptr<const Dataset> dataset_;
  int64_t batches_;      // of each rank
  int64_t first_batch_;  // of this rank
  int64_t total_tokens_ = 0;
  int64_t index_ = 0;  // of the next batch on this rank
};

}  // namespace lockstep::data
