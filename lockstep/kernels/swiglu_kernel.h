// The GPU side of kernels/swiglu.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// n elements of each; T: __nv_bfloat16, float or double. Enqueue on `stream` of the current device and
// return the launch's error.
template <typename T>
cudaError_t launch_swiglu(T* y, const T* gate, const T* up, int64_t n, cudaStream_t stream);
template <typename T>
cudaError_t launch_swiglu_backward(T* gate_grad, T* up_grad, T* y, const T* y_grad, const T* gate,
                                   const T* up, int64_t n, cudaStream_t stream);

}  // namespace lockstep::kernels
