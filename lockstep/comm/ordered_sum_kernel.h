// comm/ordered_sum.h on a GPU: the same tree, hence the same bits as the CPU's. Plain
// pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::comm {

constexpr int kMaxOrderedParts = 4095;

// out: [n] = sum of parts: [num_parts, n], in Out. Out: float, double or int64_t; In: these,
// __nv_bfloat16 or __half. Enqueues on `stream` of the current device and returns the
// launch's error. Reads and writes each element once.
template <typename In, typename Out>
cudaError_t launch_ordered_sum(Out* out, const In* parts, int num_parts, int64_t n, cudaStream_t stream);

}  // namespace lockstep::comm
