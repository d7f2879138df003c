// The one order in which values of several ranks are added: neighbours first, as a binary
// tree over ranks, ((0+1)+(2+3))+..., an odd one out moves up a level. The order depends on
// the number of parts alone, so sums have the same bits in every run; and a power of two of
// parts can be summed in two stages, inside ranks and between them, with the same result.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::comm {

// out: [n] = sum of parts: [W, n], added in out's dtype. Contiguous, on one device; on a GPU
// it is enqueued on the current stream and has the same bits. `out` is float32,
// float64 or int64; `parts` float32, float64, bfloat16, float16 or int64. Reads and writes
// each element once.
void ordered_sum(const at::Tensor& out, const at::Tensor& parts);

}  // namespace lockstep::comm
