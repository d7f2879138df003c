// The GPU side of kernels/adamw.h: plain pointers, so that nvcc never reads torch's headers
// (they would cost it half a minute for each architecture).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// One step of AdamW over n elements, in place. T: float or double. All four start at a
// multiple of 16 bytes. `step` counts from 1.
template <typename T>
struct AdamWArgs {
  T* p;
  T* m;
  T* v;
  const T* g;
  int64_t n;
  double lr, beta1, beta2, eps, weight_decay;
  int64_t step;
};

// Enqueues on `stream` of the current device; returns the launch's error.
template <typename T>
cudaError_t launch_adamw(const AdamWArgs<T>& args, cudaStream_t stream);

}  // namespace lockstep::kernels
