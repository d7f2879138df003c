// The GPU side of kernels/softmax_loss.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lockstep/kernels/device_pack.h"

namespace lockstep::kernels {

// loss, targets: [rows]; logits: [rows, vocab], replaced by their gradient if `gradient`. T: __nv_bfloat16,
// float or double. Enqueues on `stream` of the current device and returns the launch's error.
template <typename T>
cudaError_t launch_softmax_loss(Wide<T>* loss, T* logits, const int64_t* targets, int64_t rows, int64_t vocab,
                                bool gradient, cudaStream_t stream);

}  // namespace lockstep::kernels
