// digits[k] += sum over i of digit k of (g[i] * scale)^2, and parts of the sum over i of g[i]^2
// (kernels/square_sum.h).
//
// digits: [3] int64; g: [n] bf16, float32 or float64. Integer additions, so the order in which threads
// come does not matter. Compiled without contraction into fused multiply-adds. Memory-bound: one
// read, 4 bytes an element in float32.
//
// Parts are float64, one for each block, whose elements and threads are added in a fixed order. Memory-bound:
// one read, 2 bytes an element in bf16.
#include <algorithm>

#include "lockstep/kernels/block_sum.h"
#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/square_digits.h"
#include "lockstep/kernels/square_sum_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 2048;  // enough to fill a GPU; each ends in a few atomic additions

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

// Elements of a thread in a row, so that several reads are under way at once.
constexpr int kPacks = 4;

template <typename T, int N>
__global__ void square_parts_kernel(double* parts, const T* g, int64_t n) {
  double sum = 0;
  const int64_t stride = int64_t{gridDim.x} * kThreads * N;
  for (int64_t first = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N; first < n;
       first += kPacks * stride) {
    DevicePack<T, N> values[kPacks] = {};
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack)
      if (first + pack * stride < n) values[pack] = load<N>(g + first + pack * stride);
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const auto x = static_cast<double>(Wide<T>(values[pack].at[i]));
        sum += x * x;
      }
    }
  }
  __shared__ double warps[kThreads / kWarp];
  const double part = sum_over_block(sum, warps);
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

}  // namespace

int64_t square_part_count(int64_t n) { return std::clamp<int64_t>(n / (kThreads * 32), 1, kMaxBlocks / 2); }

template <typename T>
cudaError_t launch_square_parts(double* parts, const T* g, int64_t n, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(square_part_count(n));
  if (takes_full_packs<T>(n, g)) {
    square_parts_kernel<T, kFullPack<T>><<<blocks, kThreads, 0, stream>>>(parts, g, n);
  } else {
    square_parts_kernel<T, 1><<<blocks, kThreads, 0, stream>>>(parts, g, n);
  }
  return cudaGetLastError();
}

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
template cudaError_t launch_square_parts(double*, const __nv_bfloat16*, int64_t, cudaStream_t);
template cudaError_t launch_square_parts(double*, const float*, int64_t, cudaStream_t);
template cudaError_t launch_square_parts(double*, const double*, int64_t, cudaStream_t);

}  // namespace lockstep::kernels
