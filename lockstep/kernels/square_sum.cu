// digits[k] += sum over i of digit k of (g[i] * scale)^2 (kernels/square_sum.h).
//
// digits: [3] int64; g: [n] bf16, float32 or float64. Integer additions, so the order in which threads
// come does not matter. Compiled without contraction into fused multiply-adds. Memory-bound: one
// read, 4 bytes an element in float32.
#include <algorithm>

#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/square_digits.h"
#include "lockstep/kernels/square_sum_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 2048;  // enough to fill a GPU; each ends in a few atomic additions
constexpr int kWarp = 32;

// Adds over the warp and then to *sum, once a warp.
__device__ void add_over_warp(int64_t* sum, int64_t value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, static_cast<long long>(value), offset);
  }
  if (threadIdx.x % kWarp == 0) {
    // Two's complement: the unsigned sum has the signed one's bits.
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
  }
}

template <typename T>
__global__ void add_squares_kernel(int64_t* digits, const T* g, int64_t n, double scale) {
  int64_t d0 = 0, d1 = 0, d2 = 0;
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride) {
    add_square(static_cast<double>(Wide<T>(g[i])) * scale, d0, d1, d2);
  }
  add_over_warp(digits, d0);
  add_over_warp(digits + 1, d1);
  add_over_warp(digits + 2, d2);
}

}  // namespace

template <typename T>
cudaError_t launch_add_squares(int64_t* digits, const T* g, int64_t n, double scale, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, kMaxBlocks));
  add_squares_kernel<<<blocks, kThreads, 0, stream>>>(digits, g, n, scale);
  return cudaGetLastError();
}

template cudaError_t launch_add_squares(int64_t*, const __nv_bfloat16*, int64_t, double, cudaStream_t);
template cudaError_t launch_add_squares(int64_t*, const float*, int64_t, double, cudaStream_t);
template cudaError_t launch_add_squares(int64_t*, const double*, int64_t, double, cudaStream_t);

}  // namespace lockstep::kernels
