// The GPU side of kernels/square_sum.h: plain pointers, so that nvcc never reads torch's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::kernels {

// digits: [3] += the sums of the digits over g: [n], T: __nv_bfloat16, float or double. Enqueues on `stream`
// of the current device and returns the launch's error.
template <typename T>
cudaError_t launch_add_squares(int64_t* digits, const T* g, int64_t n, double scale, cudaStream_t stream);

// parts: [square_part_count(n)] = sums of g^2 over parts of g.
int64_t square_part_count(int64_t n);
template <typename T>
cudaError_t launch_square_parts(double* parts, const T* g, int64_t n, cudaStream_t stream);

}  // namespace lockstep::kernels
