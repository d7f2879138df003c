// A micro-batch as a train function sees it: what the data pipeline made (data/batch.h),
// ready to be given to models::CausalLM's loss.
#pragma once

#include "lockstep/data/batch.h"
#include "lockstep/models/causal_lm.h"

namespace lockstep::train {

struct Batch : data::Batch {
  Batch() = default;
  explicit Batch(data::Batch made) : data::Batch(std::move(made)) {}

  operator models::ModelInput() const { return {tokens, positions, document_ids, targets}; }
};

}  // namespace lockstep::train
