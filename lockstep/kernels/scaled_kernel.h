// The GPU side of kernels/scaled.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lockstep/kernels/device_pack.h"

namespace lockstep::kernels {

// out[i] = x[i] * *factor. (Out, X): (__nv_bfloat16, float) or both __nv_bfloat16, float or double. Enqueues
// on `stream` of the current device and returns the launch's error: cudaErrorInvalidValue for 2^32 packs
// (device_pack.h) and more.
template <typename Out, typename X>
cudaError_t launch_scaled(Out* out, const X* x, const Wide<X>* factor, int64_t n, cudaStream_t stream);

}  // namespace lockstep::kernels
