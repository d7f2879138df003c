// Cross-entropy of rows of logits, and its gradient in their place:
//
//   loss[n] = log(sum over v of exp(x[n, v])) - x[n, t[n]]
//   x[n, v] <- softmax(x[n])[v] - (v == t[n])               d loss[n] / d x[n, v]
//
// x: [N, V], contiguous, bfloat16 (computed in float32, rounded once), float32 or float64; t: [N] int64 in
// 0 .. V-1: rows that are not trained on are left out by the caller, who then need not compute their logits
// either. Bound by memory on a GPU: x read twice, the second time partly from the cache, and written once.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::kernels {

// Returns loss: [N] float32, or float64 for float64. With `gradient`, logits become it; else they stay. The
// order of the sums depends on V alone. Dispatched as the operator lockstep::softmax_loss_.
at::Tensor softmax_loss(at::Tensor logits, const at::Tensor& targets, bool gradient);

}  // namespace lockstep::kernels
