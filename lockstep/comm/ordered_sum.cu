// out[i] = ((parts[0][i] + parts[1][i]) + (parts[2][i] + parts[3][i])) + ..., each addition
// in out's type; an odd one out moves up a level.
//
// out: [n] float32, float64 or int64; parts: [W, n] of these, bfloat16 or float16.
// Memory-bound: W * sizeof(part) + sizeof(out) bytes an element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "lockstep/comm/ordered_sum_kernel.h"

namespace lockstep::comm {
namespace {

constexpr int kThreads = 256;
constexpr int kLevels = 12;
static_assert(kMaxOrderedParts == (1 << kLevels) - 1);

// Adds the parts as they come, like a binary counter: level l holds the sum of a whole
// subtree of 2^l parts, or nothing. A part that finds its level taken is added and carried.
// What is left at the end are the odd ones out, which move up until they meet a neighbour.
// The compiler knows every index of `level`, so it stays in registers.
template <typename In, typename Out>
__global__ void ordered_sum_kernel(Out* out, const In* parts, int num_parts, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  Out level[kLevels];
  for (int part = 0; part < num_parts; ++part) {
    Out carried = static_cast<Out>(parts[part * n + i]);
    bool settled = false;
#pragma unroll
    for (int l = 0; l < kLevels; ++l) {
      if (settled) continue;
      if ((part >> l) & 1) {
        carried = level[l] + carried;
      } else {
        level[l] = carried;
        settled = true;
      }
    }
  }
  Out sum{};
  bool any = false;
#pragma unroll
  for (int l = 0; l < kLevels; ++l) {
    if (((num_parts >> l) & 1) == 0) continue;
    sum = any ? level[l] + sum : level[l];
    any = true;
  }
  out[i] = sum;
}

}  // namespace

template <typename In, typename Out>
cudaError_t launch_ordered_sum(Out* out, const In* parts, int num_parts, int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  ordered_sum_kernel<<<blocks, kThreads, 0, stream>>>(out, parts, num_parts, n);
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
