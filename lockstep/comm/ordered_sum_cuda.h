// comm/ordered_sum.h for tensors on a GPU: the same tree, hence the same bits as the CPU's.
// In liblockstep_cuda.so.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::comm {

// out: [n] = sum of parts: [W, n], added in out's dtype; both on the current device and
// contiguous. `out` is float32, float64 or int64; `parts` of out's dtype or, for the
// floating ones, float32, bfloat16 or float16. Enqueues on the current stream.
void ordered_sum_cuda(const at::Tensor& out, const at::Tensor& parts);

}  // namespace lockstep::comm
