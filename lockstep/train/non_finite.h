// Where a loss or gradient that is not finite comes from: which rows, and which parameter.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/fsdp/sharded_module.h"

namespace lockstep::train {

struct MicroBatchLoss {
  at::Tensor loss;  // scalar
  int64_t first_row = 0, num_rows = 0;
};

// Collective. The rows, over all ranks and rising, of micro-batches whose loss is not finite.
std::vector<int64_t> non_finite_rows(const std::vector<MicroBatchLoss>& micro_batches, comm::Mesh& mesh,
                                     c10::Device device);

// Collective. In words: the first weight in the order of the model that is not finite; else the
// gradient that backward came to first, which is the last in that order; else that it is in the
// activations. Reads every weight and gradient once.
std::string first_non_finite(fsdp::ShardedModule& model);

}  // namespace lockstep::train
