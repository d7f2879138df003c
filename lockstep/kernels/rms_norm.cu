// RMSNorm of x + residual and its gradient (kernels/rms_norm.h has the formulas).
//
// [N, D] in bf16 (computed in float32), float32 or float64. A block takes a row at a time, of which each
// thread holds its columns in registers. Memory-bound: forward reads 1 or 2 tensors and writes 1 or 2, 8
// bytes an element in bf16 with a residual; backward reads 2 or 3 and writes 1, 8 bytes.
//
// The weight's gradient: a block adds up a group of rows, each thread its own columns; a second kernel adds
// the groups in order. No atomics: the order depends on N and D alone.
#include <algorithm>

#include "lockstep/kernels/block_sum.h"
#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/rms_norm_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxThreads = 512;

// About as many groups as the multiprocessors of an H200 hold blocks of, so that all wait for memory together
// and none comes late.
int64_t group_rows(int64_t rows, int64_t width) {
  constexpr int64_t kGroups = 640, kElements = 1536 * kGroups;
  return std::max<int64_t>(rows / std::max(kGroups, kElements / width), 4);
}

// A thread's columns of a row: P packs of N, blockDim.x * N apart; nothing past the end.
template <typename T, int N, int P>
struct Columns {
  DevicePack<T, N> packs[P];

  __device__ void read(const T* row, int64_t width) {
#pragma unroll
    for (int p = 0; p < P; ++p)
      if (const int64_t c = column(p); c < width) packs[p] = load<N>(row + c);
  }
  __device__ void write(T* row, int64_t width) const {
#pragma unroll
    for (int p = 0; p < P; ++p)
      if (const int64_t c = column(p); c < width) store(row + c, packs[p]);
  }
  static __device__ int64_t column(int p) { return (int64_t{p} * blockDim.x + threadIdx.x) * N; }
};

template <typename T, int N, int P>
__global__ void __launch_bounds__(kMaxThreads) rms_norm_kernel(RmsNorm<T> op) {
  using W = Wide<T>;
  __shared__ W warps[kMaxThreads / kWarp];
  const int64_t row = int64_t{blockIdx.x} * op.width;
  Columns<T, N, P> values{}, added{}, weights{};
  values.read(op.x + row, op.width);
  if (op.residual != nullptr) added.read(op.residual + row, op.width);
  weights.read(op.weight, op.width);
  W squares = 0;
#pragma unroll
  for (int p = 0; p < P; ++p) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      T& h = values.packs[p].at[i];
      if (op.residual != nullptr) h = T(W(h) + W(added.packs[p].at[i]));
      squares += W(h) * W(h);
    }
  }
  if (op.residual != nullptr) values.write(op.h + row, op.width);
  const W r = W(1) / sqrt(sum_over_block(squares, warps) / W(op.width) + W(op.eps));
  if (threadIdx.x == 0) op.r[blockIdx.x] = r;
#pragma unroll
  for (int p = 0; p < P; ++p) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      T& y = values.packs[p].at[i];
      y = T(W(y) * r * W(weights.packs[p].at[i]));
    }
  }
  values.write(op.y + row, op.width);
}

// With one pack a thread, registers for five blocks of 192 threads on a multiprocessor: more rows under way
// at once are worth more than a row that is on its way while another is computed.
template <typename T, int N, int P>
__global__ void __launch_bounds__(kMaxThreads, P == 1 ? 2 : 1)
    rms_norm_backward_kernel(RmsNormGradient<T> op, int64_t group_rows) {
  using W = Wide<T>;
  __shared__ W warps[2][kMaxThreads / kWarp];
  Columns<T, N, P> weights{}, grads{}, values{}, past{};
  weights.read(op.weight, op.width);
  W weight_grad[P][N] = {};
  const int64_t first = int64_t{blockIdx.x} * group_rows, last = min(first + group_rows, op.rows);
  for (int64_t n = first; n < last; ++n) {
    const int64_t row = n * op.width;
    grads.read(op.y_grad + row, op.width);
    values.read(op.h + row, op.width);
    if (op.h_grad != nullptr) past.read(op.h_grad + row, op.width);
    const W r = op.r[n];
    W dot = 0;  // w g . h r
#pragma unroll
    for (int p = 0; p < P; ++p) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const W product = W(grads.packs[p].at[i]) * W(values.packs[p].at[i]) * r;
        weight_grad[p][i] += product;
        dot += product * W(weights.packs[p].at[i]);
      }
    }
    const W mean = sum_over_block(dot, warps[n % 2]) / W(op.width);
#pragma unroll
    for (int p = 0; p < P; ++p) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const W normed = W(values.packs[p].at[i]) * r;
        T& grad = grads.packs[p].at[i];
        grad = T(W(past.packs[p].at[i]) + r * (W(weights.packs[p].at[i]) * W(grad) - normed * mean));
      }
    }
    grads.write(op.h_grad_out + row, op.width);
  }
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const int64_t c = Columns<T, N, P>::column(p);
    if (c >= op.width) break;
#pragma unroll
    for (int i = 0; i < N; ++i) op.partial[blockIdx.x * op.width + c + i] = weight_grad[p][i];
  }
}

// out[c] = sum over groups of partial[g][c]: lane y of a column takes groups y, y + kWarp, ..., and the
// lanes are added in order.
template <typename T>
__global__ void sum_groups_kernel(T* out, const Wide<T>* partial, int64_t groups, int64_t width) {
  using W = Wide<T>;
  __shared__ W lanes[kWarp][kWarp + 1];
  const int64_t c = int64_t{blockIdx.x} * kWarp + threadIdx.x;
  W sum = 0;
  if (c < width) {
#pragma unroll 16
    for (int64_t group = threadIdx.y; group < groups; group += kWarp) sum += partial[group * width + c];
  }
  lanes[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || c >= width) return;
  for (int lane = 1; lane < kWarp; ++lane) sum += lanes[lane][threadIdx.x];
  out[c] = T(sum);
}

// launch.operator()<N, P>(threads) with whole warps, no more than a row of `width` keeps busy, and as few
// packs a thread as hold it. cudaErrorInvalidValue: the row is too wide for registers.
template <int N, typename Launch>
cudaError_t with_columns(int64_t width, const Launch& launch) {
  const int64_t packs = (width + N - 1) / N, warps = (packs + kWarp - 1) / kWarp;
  const int threads = static_cast<int>(std::min<int64_t>(warps * kWarp, kMaxThreads));
  const int64_t each = (packs + threads - 1) / threads;
  if (each <= 1) return launch.template operator()<N, 1>(threads);
  if (each <= 2) return launch.template operator()<N, 2>(threads);
  if (each <= 4) return launch.template operator()<N, 4>(threads);
  constexpr int kMost = static_cast<int>(kRmsNormMaxWidth) / kMaxThreads / N;
  if (each <= kMost) return launch.template operator()<N, kMost>(threads);
  return cudaErrorInvalidValue;
}

template <typename T, typename Launch>
cudaError_t with_packs(int64_t width, bool takes_packs, const Launch& launch) {
  return takes_packs ? with_columns<kFullPack<T>>(width, launch) : with_columns<1>(width, launch);
}

}  // namespace

int64_t rms_norm_groups(int64_t rows, int64_t width) {
  const int64_t each = group_rows(rows, width);
  return (rows + each - 1) / each;
}

template <typename T>
cudaError_t launch_rms_norm(const RmsNorm<T>& op, cudaStream_t stream) {
  if (op.rows == 0) return cudaSuccess;
  const bool packs = takes_full_packs<T>(op.width, op.y, op.h, op.x, op.residual, op.weight);
  return with_packs<T>(op.width, packs, [&]<int N, int P>(int threads) {
    rms_norm_kernel<T, N, P><<<static_cast<unsigned>(op.rows), threads, 0, stream>>>(op);
    return cudaGetLastError();
  });
}

template <typename T>
cudaError_t launch_rms_norm_backward(const RmsNormGradient<T>& op, cudaStream_t stream) {
  if (op.rows == 0)
    return cudaMemsetAsync(op.weight_grad, 0, static_cast<size_t>(op.width) * sizeof(T), stream);
  const bool packs = takes_full_packs<T>(op.width, op.h_grad_out, op.y_grad, op.h_grad, op.h, op.weight);
  const int64_t groups = rms_norm_groups(op.rows, op.width);
  const auto error = with_packs<T>(op.width, packs, [&]<int N, int P>(int threads) {
    rms_norm_backward_kernel<T, N, P>
        <<<static_cast<unsigned>(groups), threads, 0, stream>>>(op, group_rows(op.rows, op.width));
    return cudaGetLastError();
  });
  if (error != cudaSuccess) return error;
  const auto columns = static_cast<unsigned>((op.width + kWarp - 1) / kWarp);
  sum_groups_kernel<T>
      <<<columns, dim3(kWarp, kWarp), 0, stream>>>(op.weight_grad, op.partial, groups, op.width);
  return cudaGetLastError();
}

#define LOCKSTEP_INSTANTIATE(T)                                          \
  template cudaError_t launch_rms_norm(const RmsNorm<T>&, cudaStream_t); \
  template cudaError_t launch_rms_norm_backward(const RmsNormGradient<T>&, cudaStream_t)
LOCKSTEP_INSTANTIATE(__nv_bfloat16);
LOCKSTEP_INSTANTIATE(float);
LOCKSTEP_INSTANTIATE(double);
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::kernels
