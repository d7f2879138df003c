// The GPU side of kernels/add_rows.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// T: __nv_bfloat16, float or double.
template <typename T>
struct AddRows {
  T* out;                // [V, width]
  const int64_t* rows;   // [count], of out, ascending
  const int64_t* order;  // [count], of x
  const T* x;            // [count, width]
  int64_t count, width;
};

// Enqueues on `stream` of the current device and returns the launch's error.
template <typename T>
cudaError_t launch_add_rows(const AddRows<T>& op, cudaStream_t stream);

}  // namespace lockstep::kernels
