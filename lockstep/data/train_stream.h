// This rank's micro-batches of a run, in order, made ahead on a thread. Which rows they are is
// batch_plan.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lockstep/data/batch.h"
#include "lockstep/data/batch_plan.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/prefetch.h"

namespace lockstep::data {

class TrainStream {
 public:
  // `first_row`: the position() to continue from, a multiple of the global batch. Throws
  // ConfigError when the global batch does not divide over the ranks.
  TrainStream(std::shared_ptr<const Dataset> dataset, int rank, int num_ranks, int64_t first_row = 0);

  // The next micro-batch, on CPU, with every field set: step_tokens without communication,
  // as each rank knows all rows. Nothing after the last step. One thread at a time.
  std::optional<Batch> next();

  // Rows of the run up to and including the last step whose last micro-batch was handed out:
  // what a checkpoint saves after that step.
  int64_t position() const { return position_; }
  int64_t accumulation() const { return plan_.accumulation(); }  // micro-batches a step on each rank

 private:
  std::optional<Batch> produce();

  std::shared_ptr<const Dataset> dataset_;
  BatchPlan plan_;
  int64_t position_;
  // The producing thread's own: what it makes next.
  int64_t step_, micro_index_ = 0, step_tokens_ = 0;
  Prefetch<Batch> prefetch_;  // last: its thread uses the members above
};

}  // namespace lockstep::data
