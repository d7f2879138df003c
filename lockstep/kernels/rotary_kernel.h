// The GPU side of kernels/rotary.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// Elements from one row, head and token to the next.
struct HeadStrides {
  int64_t row, head, token;
};

// x, y: [B, heads, T, 2 * half], the last dim dense. T: __nv_bfloat16, float or double.
template <typename T>
struct RotaryHeads {
  T* y;
  const T* x;
  HeadStrides y_strides, x_strides;
  int64_t heads;
};

// cos, sin: [T, half], a table for each row or one for all.
template <typename T>
struct Rotary {
  RotaryHeads<T> parts[3];  // queries, keys; and values, which are copied
  const T* cos;
  const T* sin;
  int64_t table_stride;  // elements from one row's table to the next; 0: one for all
  int64_t rows, tokens, half;
  bool inverse;
};

// Enqueues on `stream` of the current device and returns the launch's error: cudaErrorInvalidValue for more
// than 65535 rows or 2^32 pairs of elements in a row.
template <typename T>
cudaError_t launch_rotary(const Rotary<T>& op, cudaStream_t stream);

}  // namespace lockstep::kernels
