// Turns pairs of elements (kernels/rotary.h has the formula).
//
// x, y: [B, H, T, Dh], bf16 (computed in float32), float32 or float64, any strides but a dense last dim.
// Memory-bound: 1 read and 1 write, 4 bytes an element in bf16. The table is read once a head, from the
// cache.
#include <limits>

#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/rotary_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxRows = 65535;  // of a grid's y

// A thread turns N pairs. Threads go along a head, then over the heads of a token: neighbours in memory as
// a product leaves them.
template <typename T, int N>
__global__ void rotary_kernel(Rotary<T> op) {
  using W = Wide<T>;
  const auto packs = static_cast<uint32_t>(op.half / N), heads = static_cast<uint32_t>(op.heads);
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t place = index / packs, token = place / heads, head = place % heads;
  if (token >= op.tokens) return;
  const int64_t i = int64_t{index % packs} * N;

  const T* x =
      op.x + blockIdx.y * op.x_strides.row + head * op.x_strides.head + token * op.x_strides.token + i;
  T* y = op.y + blockIdx.y * op.y_strides.row + head * op.y_strides.head + token * op.y_strides.token + i;
  const int64_t table = blockIdx.y * op.table_stride + token * op.half + i;
  const auto first = load<N>(x), second = load<N>(x + op.half);
  const auto cosines = load<N>(op.cos + table), sines = load<N>(op.sin + table);
  DevicePack<T, N> y_first, y_second;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const W c = W(cosines.at[k]), s = op.inverse ? -W(sines.at[k]) : W(sines.at[k]);
    y_first.at[k] = T(W(first.at[k]) * c - W(second.at[k]) * s);
    y_second.at[k] = T(W(second.at[k]) * c + W(first.at[k]) * s);
  }
  store(y, y_first);
  store(y + op.half, y_second);
}

template <typename T, int N>
cudaError_t launch(const Rotary<T>& op, cudaStream_t stream) {
  const int64_t threads = op.heads * op.tokens * (op.half / N);
  if (op.rows > kMaxRows || threads > std::numeric_limits<uint32_t>::max() - kThreads) {
    return cudaErrorInvalidValue;
  }
  const dim3 blocks(static_cast<unsigned>((threads + kThreads - 1) / kThreads),
                    static_cast<unsigned>(op.rows));
  rotary_kernel<T, N><<<blocks, kThreads, 0, stream>>>(op);
  return cudaGetLastError();
}

bool multiples_of(int64_t pack, const HeadStrides& strides) {
  return strides.row % pack == 0 && strides.head % pack == 0 && strides.token % pack == 0;
}

}  // namespace

template <typename T>
cudaError_t launch_rotary(const Rotary<T>& op, cudaStream_t stream) {
  if (op.rows * op.heads * op.tokens * op.half == 0) return cudaSuccess;
  constexpr int N = kFullPack<T>;
  if (takes_full_packs<T>(op.half, op.y, op.x, op.cos, op.sin) && multiples_of(N, op.x_strides) &&
      multiples_of(N, op.y_strides)) {
    return launch<T, N>(op, stream);
  }
  return launch<T, 1>(op, stream);
}

template cudaError_t launch_rotary(const Rotary<__nv_bfloat16>&, cudaStream_t);
template cudaError_t launch_rotary(const Rotary<float>&, cudaStream_t);
template cudaError_t launch_rotary(const Rotary<double>&, cudaStream_t);

}  // namespace lockstep::kernels
