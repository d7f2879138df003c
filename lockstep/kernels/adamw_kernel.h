// The GPU side of kernels/adamw.h: plain pointers, so that nvcc never reads torch's headers
// (they would cost it half a minute for each architecture).
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// n elements of each; S: float, double or __nv_bfloat16, G: S, __nv_bfloat16, or float beside __nv_bfloat16.
// All start at a multiple of 16 bytes.
template <typename S, typename G = S>
struct AdamWShard {
  S* p;
  S* m;
  S* v;
  const G* g;
  __nv_bfloat16* copy;  // of the new p; null: none
  int64_t n;
};

// One step of AdamW in place, step `step` from 1. Enqueues on `stream` of the current device
// and returns the launch's error.
template <typename S, typename G>
cudaError_t launch_adamw(const AdamWShard<S, G>& shard, double lr, double beta1, double beta2, double eps,
                         double weight_decay, int64_t step, double grad_scale, cudaStream_t stream);

}  // namespace lockstep::kernels
