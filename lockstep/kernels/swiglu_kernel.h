// The GPU side of kernels/swiglu.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// `rows` rows of `width` elements. Those of gate and up, and of their gradients, begin so many elements
// apart; the others are contiguous.
struct SwigluRows {
  int64_t rows = 0, width = 0;
  int64_t stride = 0, grad_stride = 0;
};

// T: __nv_bfloat16, float or double. Enqueue on `stream` of the current device and return the launch's error:
// cudaErrorInvalidValue for 2^32 packs of elements (device_pack.h) and more.
template <typename T>
cudaError_t launch_swiglu(T* y, const T* gate, const T* up, const SwigluRows& rows, cudaStream_t stream);
template <typename T>
cudaError_t launch_swiglu_backward(T* gate_grad, T* up_grad, T* y, const T* y_grad, const T* gate,
                                   const T* up, const SwigluRows& rows, cudaStream_t stream);

}  // namespace lockstep::kernels
