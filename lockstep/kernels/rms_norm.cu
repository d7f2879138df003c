// RMSNorm of x + residual and its gradient (kernels/rms_norm.h has the formulas).
//
// [N, D] in bf16 (computed in float32), float32 or float64. A block takes a row at a time; it reads a row
// twice, the second time from its cache. Memory-bound: forward reads 1 or 2 tensors and writes 1 or 2, 8
// bytes an element in bf16 with a residual; backward reads 2 or 3 and writes 1, 8 bytes.
//
// The weight's gradient: a block adds up its group of kGroupRows rows, each thread its own columns; a second
// kernel adds the groups in order. No atomics: the order depends on N and D alone.
#include <algorithm>

#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/rms_norm_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kMaxThreads = 256;
constexpr int64_t kGroupRows = 16;

// The same in every thread. `warps`: [kMaxThreads / kWarp], shared.
template <typename W>
__device__ W sum_over_block(W value, W* warps) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  __syncthreads();  // the last sum has been read
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  W sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) sum += warps[warp];
  return sum;
}

template <typename T, int N>
__global__ void rms_norm_kernel(RmsNorm<T> op) {
  using W = Wide<T>;
  __shared__ W warps[kMaxThreads / kWarp];
  const int64_t row = int64_t{blockIdx.x} * op.width;
  const T* h = op.residual == nullptr ? op.x : op.h;
  W squares = 0;
  for (int64_t c = threadIdx.x * N; c < op.width; c += blockDim.x * N) {
    auto values = load<N>(op.x + row + c);
    if (op.residual != nullptr) {
      const auto added = load<N>(op.residual + row + c);
#pragma unroll
      for (int i = 0; i < N; ++i) values.at[i] = T(W(values.at[i]) + W(added.at[i]));
      store(op.h + row + c, values);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) squares += W(values.at[i]) * W(values.at[i]);
  }
  const W r = W(1) / sqrt(sum_over_block(squares, warps) / W(op.width) + W(op.eps));
  if (threadIdx.x == 0) op.r[blockIdx.x] = r;
  for (int64_t c = threadIdx.x * N; c < op.width; c += blockDim.x * N) {  // each its own columns again
    auto values = load<N>(h + row + c);
    const auto weights = load<N>(op.weight + c);
#pragma unroll
    for (int i = 0; i < N; ++i) values.at[i] = T(W(values.at[i]) * r * W(weights.at[i]));
    store(op.y + row + c, values);
  }
}

template <typename T, int N>
__global__ void rms_norm_backward_kernel(RmsNormGradient<T> op) {
  using W = Wide<T>;
  __shared__ W warps[kMaxThreads / kWarp];
  extern __shared__ double shared[];
  // [N, D / N]: element i of pack c / N, so that neighbouring threads use neighbouring banks. A column
  // belongs to one thread.
  W* weight_grad = reinterpret_cast<W*>(shared);
  const int64_t packs = op.width / N;
  for (int64_t c = threadIdx.x * N; c < op.width; c += blockDim.x * N) {
#pragma unroll
    for (int i = 0; i < N; ++i) weight_grad[i * packs + c / N] = 0;
  }
  const int64_t first = int64_t{blockIdx.x} * kGroupRows;
  const int64_t last = min(first + kGroupRows, op.rows);
  for (int64_t n = first; n < last; ++n) {
    const int64_t row = n * op.width;
    const W r = op.r[n];
    W dot = 0;  // w g . h r
    for (int64_t c = threadIdx.x * N; c < op.width; c += blockDim.x * N) {
      const auto grads = load<N>(op.y_grad + row + c), values = load<N>(op.h + row + c);
      const auto weights = load<N>(op.weight + c);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const W product = W(grads.at[i]) * W(values.at[i]) * r;
        weight_grad[i * packs + c / N] += product;
        dot += product * W(weights.at[i]);
      }
    }
    const W mean = sum_over_block(dot, warps) / W(op.width);
    for (int64_t c = threadIdx.x * N; c < op.width; c += blockDim.x * N) {
      const auto grads = load<N>(op.y_grad + row + c), values = load<N>(op.h + row + c);
      const auto weights = load<N>(op.weight + c);
      DevicePack<T, N> past{}, out;
      if (op.h_grad != nullptr) past = load<N>(op.h_grad + row + c);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const W normed = W(values.at[i]) * r;
        out.at[i] = T(W(past.at[i]) + r * (W(weights.at[i]) * W(grads.at[i]) - normed * mean));
      }
      store(op.h_grad_out + row + c, out);
    }
  }
  for (int64_t c = threadIdx.x * N; c < op.width; c += blockDim.x * N) {
#pragma unroll
    for (int i = 0; i < N; ++i) op.partial[blockIdx.x * op.width + c + i] = weight_grad[i * packs + c / N];
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
#pragma unroll 4
    for (int64_t group = threadIdx.y; group < groups; group += kWarp) sum += partial[group * width + c];
  }
  lanes[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || c >= width) return;
  for (int lane = 1; lane < kWarp; ++lane) sum += lanes[lane][threadIdx.x];
  out[c] = T(sum);
}

// Whole warps, no more than a row keeps busy.
int threads_for(int64_t width, int pack) {
  const int64_t warps = (width / pack + kWarp - 1) / kWarp;
  return static_cast<int>(std::clamp<int64_t>(warps * kWarp, kWarp, kMaxThreads));
}

template <typename T, int N>
cudaError_t launch_backward(const RmsNormGradient<T>& op, cudaStream_t stream) {
  const auto groups = static_cast<unsigned>(rms_norm_groups(op.rows));
  const auto shared_bytes = static_cast<size_t>(op.width) * sizeof(Wide<T>);
  // Above 48 KiB a kernel has to ask; where the device has not so much this is the error.
  if (const auto error =
          cudaFuncSetAttribute(rms_norm_backward_kernel<T, N>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes));
      error != cudaSuccess) {
    return error;
  }
  rms_norm_backward_kernel<T, N><<<groups, threads_for(op.width, N), shared_bytes, stream>>>(op);
  const auto columns = static_cast<unsigned>((op.width + kWarp - 1) / kWarp);
  sum_groups_kernel<T>
      <<<columns, dim3(kWarp, kWarp), 0, stream>>>(op.weight_grad, op.partial, groups, op.width);
  return cudaGetLastError();
}

}  // namespace

int64_t rms_norm_groups(int64_t rows) { return (rows + kGroupRows - 1) / kGroupRows; }

template <typename T>
cudaError_t launch_rms_norm(const RmsNorm<T>& op, cudaStream_t stream) {
  if (op.rows == 0) return cudaSuccess;
  constexpr int N = kFullPack<T>;
  const auto rows = static_cast<unsigned>(op.rows);
  if (takes_full_packs<T>(op.width, op.y, op.h, op.x, op.residual, op.weight)) {
    rms_norm_kernel<T, N><<<rows, threads_for(op.width, N), 0, stream>>>(op);
  } else {
    rms_norm_kernel<T, 1><<<rows, threads_for(op.width, 1), 0, stream>>>(op);
  }
  return cudaGetLastError();
}

template <typename T>
cudaError_t launch_rms_norm_backward(const RmsNormGradient<T>& op, cudaStream_t stream) {
  if (op.rows == 0)
    return cudaMemsetAsync(op.weight_grad, 0, static_cast<size_t>(op.width) * sizeof(T), stream);
  if (takes_full_packs<T>(op.width, op.h_grad_out, op.y_grad, op.h_grad, op.h, op.weight)) {
    return launch_backward<T, kFullPack<T>>(op, stream);
  }
  return launch_backward<T, 1>(op, stream);
}

#define LOCKSTEP_INSTANTIATE(T)                                          \
  template cudaError_t launch_rms_norm(const RmsNorm<T>&, cudaStream_t); \
  template cudaError_t launch_rms_norm_backward(const RmsNormGradient<T>&, cudaStream_t)
LOCKSTEP_INSTANTIATE(__nv_bfloat16);
LOCKSTEP_INSTANTIATE(float);
LOCKSTEP_INSTANTIATE(double);
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::kernels
