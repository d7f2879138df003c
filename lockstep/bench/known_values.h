// Inputs whose results are known: every element depends on its place and on the rank that gave it, so data
// that is missing, shifted or summed twice shows. The values are small whole numbers: float32 sums of them
// are exact in any order, up to some 60000 ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "lockstep/bench/operation.h"

namespace lockstep::bench {

// Fills `in` [n], float32, with what `rank` contributes. On a GPU it is enqueued on the current stream.
void fill_contribution(const at::Tensor& in, int rank);

// How many elements of `out` are not the result of `operation` over what `num_ranks` ranks contributed.
// `rank` is the one that holds `out`. Waits for the device; takes 64 MiB of memory beside.
int64_t count_wrong(Operation operation, const at::Tensor& out, int rank, int num_ranks);

}  // namespace lockstep::bench
