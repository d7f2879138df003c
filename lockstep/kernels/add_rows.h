// Rows added to those of a table that indices name, as an embedding's gradient is:
//
//   out[v] = out[v] + sum over n with indices[n] = v of x[n]
//
// The sum is taken in the order of n, in float32 (float64 for float64), rounded to out's type and then added:
// the bits of a gradient of its own that autograd adds to the one in `out`. bfloat16, float32 or float64.
// Rows that no index names are not touched, so the cost is that of x and of as many rows of out, not of the
// table.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::kernels {

// out: [V, D], contiguous; x: [N, D], contiguous, of out's type; indices: [N] int64, each in [0, V), which is
// not checked. A row takes its x one after the other: on a GPU one that all N name takes as long as N reads
// behind each other. Nothing is recorded for autograd. Dispatched as the operator lockstep::add_rows_.
void add_rows(at::Tensor out, const at::Tensor& indices, const at::Tensor& x);

}  // namespace lockstep::kernels
