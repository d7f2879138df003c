// Rows added to those of a table (kernels/add_rows.h).
//
// A block for each of the sorted indices; those that begin a run of equal ones add up the run. Memory-bound:
// 6 bytes an element in bf16 where all indices differ (x read, out read and written), 2 for each that
// repeats.
#include <algorithm>

#include "lockstep/kernels/add_rows_kernel.h"
#include "lockstep/kernels/device_pack.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxThreads = 256;

// One past the run of equal rows that begins at `first`; the same in every thread.
__device__ int64_t end_of_run(const int64_t* rows, int64_t count, int64_t first) {
  for (int64_t begin = first + 1;; begin += blockDim.x) {
    const int64_t n = begin + threadIdx.x;
    const int equal = __syncthreads_count(n < count && rows[n] == rows[first]);
    if (equal < static_cast<int>(blockDim.x)) return begin + equal;
  }
}

template <typename T, int N>
__global__ void __launch_bounds__(kMaxThreads) add_rows_kernel(AddRows<T> op) {
  using W = Wide<T>;
  const int64_t first = blockIdx.x, row = op.rows[first];
  if (first > 0 && op.rows[first - 1] == row) return;
  const int64_t end = end_of_run(op.rows, op.count, first);
  for (int64_t column = threadIdx.x * N; column < op.width; column += blockDim.x * N) {
    W sum[N] = {};
#pragma unroll 4
    for (int64_t n = first; n < end; ++n) {
      const auto added = load<N>(op.x + op.order[n] * op.width + column);
#pragma unroll
      for (int i = 0; i < N; ++i) sum[i] += W(added.at[i]);
    }
    auto to = load<N>(op.out + row * op.width + column);
#pragma unroll
    for (int i = 0; i < N; ++i) to.at[i] = T(W(to.at[i]) + W(T(sum[i])));
    store(op.out + row * op.width + column, to);
  }
}

}  // namespace

template <typename T>
cudaError_t launch_add_rows(const AddRows<T>& op, cudaStream_t stream) {
  if (op.count * op.width == 0) return cudaSuccess;
  const auto launch = [&]<int N>() {
    constexpr int kWarp = 32;
    const int64_t packs = (op.width + N - 1) / N, warps = (packs + kWarp - 1) / kWarp;
    const auto threads = static_cast<unsigned>(std::min<int64_t>(warps * kWarp, kMaxThreads));
    add_rows_kernel<T, N><<<static_cast<unsigned>(op.count), threads, 0, stream>>>(op);
    return cudaGetLastError();
  };
  if (takes_full_packs<T>(op.width, op.out, op.x)) return launch.template operator()<kFullPack<T>>();
  return launch.template operator()<1>();
}

template cudaError_t launch_add_rows(const AddRows<__nv_bfloat16>&, cudaStream_t);
template cudaError_t launch_add_rows(const AddRows<float>&, cudaStream_t);
template cudaError_t launch_add_rows(const AddRows<double>&, cudaStream_t);

}  // namespace lockstep::kernels
