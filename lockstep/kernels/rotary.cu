// Turns pairs of elements of queries and keys and copies values (kernels/rotary.h has the formula).
//
// x, y: three of [B, heads, T, Dh], bf16 (computed in float32), float32 or float64, any strides but a dense
// last dim. Memory-bound: 1 read and 1 write, 4 bytes an element in bf16. The table is read once a head, from
// the cache.
#include <limits>

#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/rotary_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxRows = 65535;  // of a grid's y

// A thread takes N pairs. Threads go along a head, then over the heads of a token: neighbours in memory as a
// product leaves them.
template <typename T, int N>
__global__ void rotary_kernel(const __grid_constant__ Rotary<T> op, uint32_t heads) {
  using W = Wide<T>;
  const auto packs = static_cast<uint32_t>(op.half / N);
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t place = index / packs, token = place / heads;
  if (token >= op.tokens) return;
  const int64_t i = int64_t{index % packs} * N;
  int64_t head = place % heads;
  const RotaryHeads<T>* part = op.parts;
  for (; head >= part->heads; ++part) head -= part->heads;

  const auto start = [&](const HeadStrides& strides) {
    return blockIdx.y * strides.row + head * strides.head + token * strides.token + i;
  };
  const T* x = part->x + start(part->x_strides);
  T* y = part->y + start(part->y_strides);
  auto first = load<N>(x), second = load<N>(x + op.half);
  if (part != op.parts + 2) {
    const int64_t table = blockIdx.y * op.table_stride + token * op.half + i;
    const auto cosines = load<N>(op.cos + table), sines = load<N>(op.sin + table);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const W c = W(cosines.at[k]), s = op.inverse ? -W(sines.at[k]) : W(sines.at[k]);
      const W a = W(first.at[k]), b = W(second.at[k]);
      first.at[k] = T(a * c - b * s);
      second.at[k] = T(b * c + a * s);
    }
  }
  store(y, first);
  store(y + op.half, second);
}

template <typename T>
int64_t all_heads(const Rotary<T>& op) {
  return op.parts[0].heads + op.parts[1].heads + op.parts[2].heads;
}

template <typename T, int N>
cudaError_t launch(const Rotary<T>& op, cudaStream_t stream) {
  const int64_t heads = all_heads(op), threads = heads * op.tokens * (op.half / N);
  if (op.rows > kMaxRows || threads > std::numeric_limits<uint32_t>::max() - kThreads) {
    return cudaErrorInvalidValue;
  }
  const dim3 blocks(static_cast<unsigned>((threads + kThreads - 1) / kThreads),
                    static_cast<unsigned>(op.rows));
  rotary_kernel<T, N><<<blocks, kThreads, 0, stream>>>(op, static_cast<uint32_t>(heads));
  return cudaGetLastError();
}

bool multiples_of(int64_t pack, const HeadStrides& strides) {
  return strides.row % pack == 0 && strides.head % pack == 0 && strides.token % pack == 0;
}

}  // namespace

template <typename T>
cudaError_t launch_rotary(const Rotary<T>& op, cudaStream_t stream) {
  if (op.rows * all_heads(op) * op.tokens * op.half == 0) return cudaSuccess;
  constexpr int N = kFullPack<T>;
  bool packs = takes_full_packs<T>(op.half, op.cos, op.sin);
  for (const RotaryHeads<T>& part : op.parts)
    packs = packs && takes_full_packs<T>(op.half, part.y, part.x) && multiples_of(N, part.x_strides) &&
            multiples_of(N, part.y_strides);
  return packs ? launch<T, N>(op, stream) : launch<T, 1>(op, stream);
}

template cudaError_t launch_rotary(const Rotary<__nv_bfloat16>&, cudaStream_t);
template cudaError_t launch_rotary(const Rotary<float>&, cudaStream_t);
template cudaError_t launch_rotary(const Rotary<double>&, cudaStream_t);

}  // namespace lockstep::kernels
