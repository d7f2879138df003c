// The GPU side of kernels/rms_norm.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lockstep/kernels/device_pack.h"

namespace lockstep::kernels {

// T: __nv_bfloat16, float or double. [N, D] row-major unless said otherwise.
template <typename T>
struct RmsNorm {
  T* y;
  T* h;        // written when there is a residual; else not read
  Wide<T>* r;  // [N]
  const T* x;
  const T* residual;  // or null
  const T* weight;    // [D]
  int64_t rows, width;
  double eps;
};

template <typename T>
struct RmsNormGradient {
  T* h_grad_out;
  T* weight_grad;    // [D]
  Wide<T>* partial;  // [rms_norm_groups(N, D), D], scratch
  const T* y_grad;
  const T* h_grad;  // or null
  const T* h;
  const T* weight;   // [D]
  const Wide<T>* r;  // [N]
  int64_t rows, width;
};

// What the columns of a row that a block's threads hold in registers come to, aligned or not.
constexpr int64_t kRmsNormMaxWidth = 16384;

// Groups of rows whose parts of the weight's gradient are summed first.
int64_t rms_norm_groups(int64_t rows, int64_t width);

// Enqueue on `stream` of the current device and return the launch's error: cudaErrorInvalidValue for wider
// rows.
template <typename T>
cudaError_t launch_rms_norm(const RmsNorm<T>& op, cudaStream_t stream);
template <typename T>
cudaError_t launch_rms_norm_backward(const RmsNormGradient<T>& op, cudaStream_t stream);

}  // namespace lockstep::kernels
