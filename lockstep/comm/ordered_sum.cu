// out[i] = ((parts[0][i] + parts[1][i]) + (parts[2][i] + parts[3][i])) + ..., each addition
// in out's type; an odd one out moves up a level.
//
// out: [n] float32, float64 or int64; parts: [W, n] of these, bfloat16 or float16. A thread adds the parts of
// up to four neighbouring elements. Memory-bound: W * sizeof(part) + sizeof(out) bytes an element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "lockstep/comm/ordered_sum_kernel.h"

namespace lockstep::comm {
namespace {

constexpr int kThreads = 256;
constexpr int kGroupLevels = 3, kGroup = 1 << kGroupLevels;  // parts that are added at once
constexpr int kLevels = 9;                                   // of groups
static_assert(kMaxOrderedParts == (kGroup << kLevels) - 1);

// Neighbouring elements, read and written as one access.
template <typename T, int N>
struct alignas(N * sizeof(T)) Pack {
  T at[N];
};

template <typename Out, int N>
__device__ Pack<Out, N> sum_of(const Pack<Out, N>& a, const Pack<Out, N>& b) {
  Pack<Out, N> sum;
#pragma unroll
  for (int i = 0; i < N; ++i) sum.at[i] = a.at[i] + b.at[i];
  return sum;
}

// Of kParts parts, a power of two, that lie `stride` elements apart.
template <int kParts, typename In, typename Out, int N>
__device__ Pack<Out, N> whole_tree(const In* parts, int64_t stride) {
  if constexpr (kParts == 1) {
    const auto values = *reinterpret_cast<const Pack<In, N>*>(parts);
    Pack<Out, N> wide;
#pragma unroll
    for (int i = 0; i < N; ++i) wide.at[i] = static_cast<Out>(values.at[i]);
    return wide;
  } else {
    const auto left = whole_tree<kParts / 2, In, Out, N>(parts, stride);
    return sum_of(left, whole_tree<kParts / 2, In, Out, N>(parts + kParts / 2 * stride, stride));
  }
}

// Adds whole groups as they come, like a binary counter: level l holds the sum of 2^l groups, or nothing; a
// group that finds its level taken is added and carried. What is left at the end, of parts behind the last
// group and of levels, are the odd ones out, which move up until they meet a neighbour. The compiler knows
// every index of `level`, so it stays in registers.
template <typename In, typename Out, int N>
__device__ Pack<Out, N> any_tree(const In* parts, int num_parts, int64_t stride) {
  const int groups = num_parts / kGroup;
  Pack<Out, N> level[kLevels];
  for (int group = 0; group < groups; ++group) {
    auto carried = whole_tree<kGroup, In, Out, N>(parts + int64_t{group} * kGroup * stride, stride);
    bool settled = false;
#pragma unroll
    for (int l = 0; l < kLevels; ++l) {
      if (settled) continue;
      if ((group >> l) & 1) {
        carried = sum_of(level[l], carried);
      } else {
        level[l] = carried;
        settled = true;
      }
    }
  }
  Pack<Out, N> sum;
  bool any = false;
  const auto put_before = [&](const Pack<Out, N>& earlier) {
    sum = any ? sum_of(earlier, sum) : earlier;
    any = true;
  };
  const In* end = parts + int64_t{num_parts} * stride;
  if (num_parts & 1) put_before(whole_tree<1, In, Out, N>(end -= stride, stride));
  if (num_parts & 2) put_before(whole_tree<2, In, Out, N>(end -= 2 * stride, stride));
  if (num_parts & 4) put_before(whole_tree<4, In, Out, N>(end -= 4 * stride, stride));
#pragma unroll
  for (int l = 0; l < kLevels; ++l)
    if ((groups >> l) & 1) put_before(level[l]);
  return sum;
}

// kParts: known when compiled; 0: num_parts.
template <int kParts, int N, typename In, typename Out>
__global__ void __launch_bounds__(kThreads)
    ordered_sum_kernel(Out* out, const In* parts, int num_parts, int64_t n) {
  const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N;
  if (i >= n) return;
  Pack<Out, N> sum;
  if constexpr (kParts == 0) {
    sum = any_tree<In, Out, N>(parts + i, num_parts, n);
  } else {
    sum = whole_tree<kParts, In, Out, N>(parts + i, n);
  }
  *reinterpret_cast<Pack<Out, N>*>(out + i) = sum;
}

template <int N, typename In, typename Out>
void launch(Out* out, const In* parts, int num_parts, int64_t n, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n / N + kThreads - 1) / kThreads);
  const auto kernel = num_parts == 2   ? ordered_sum_kernel<2, N, In, Out>
                      : num_parts == 4 ? ordered_sum_kernel<4, N, In, Out>
                      : num_parts == 8 ? ordered_sum_kernel<8, N, In, Out>
                                       : ordered_sum_kernel<0, N, In, Out>;
  kernel<<<blocks, kThreads, 0, stream>>>(out, parts, num_parts, n);
}

}  // namespace

template <typename In, typename Out>
cudaError_t launch_ordered_sum(Out* out, const In* parts, int num_parts, int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  constexpr int kPack = 16 / std::max(sizeof(In), sizeof(Out));
  const auto aligned = [](const void* address, size_t bytes) {
    return reinterpret_cast<uintptr_t>(address) % bytes == 0;
  };
  if (n % kPack == 0 && aligned(out, kPack * sizeof(Out)) && aligned(parts, kPack * sizeof(In))) {
    launch<kPack>(out, parts, num_parts, n, stream);
  } else {
    launch<1>(out, parts, num_parts, n, stream);
  }
  return cudaGetLastError();
}

#define INSTANTIATE(In, Out) \
  template cudaError_t launch_ordered_sum(Out*, const In*, int, int64_t, cudaStream_t)
INSTANTIATE(float, float);
INSTANTIATE(__nv_bfloat16, float);
INSTANTIATE(__half, float);
INSTANTIATE(double, double);
INSTANTIATE(float, double);
INSTANTIATE(__nv_bfloat16, double);
INSTANTIATE(__half, double);
INSTANTIATE(int64_t, int64_t);
#undef INSTANTIATE

}  // namespace lockstep::comm
