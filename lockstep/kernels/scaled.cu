// out = x * factor (kernels/scaled.h). Memory-bound: 6 bytes an element from float32 to bf16.
#include <limits>

#include "lockstep/kernels/scaled_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;

// N elements a thread: of float32 to bf16 as two reads of 16 bytes and one write.
template <typename Out, typename X, int N>
__global__ void scaled_kernel(Out* out, const X* x, const Wide<X>* factor, int64_t n) {
  constexpr int kRead = N < kFullPack<X> ? N : kFullPack<X>;
  const int64_t first = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N;
  if (first >= n) return;
  const Wide<X> times = *factor;
  DevicePack<Out, N> values;
#pragma unroll
  for (int begin = 0; begin < N; begin += kRead) {
    const auto read = load<kRead>(x + first + begin);
#pragma unroll
    for (int i = 0; i < kRead; ++i) values.at[begin + i] = Out(Wide<X>(read.at[i]) * times);
  }
  store(out + first, values);
}

}  // namespace

template <typename Out, typename X>
cudaError_t launch_scaled(Out* out, const X* x, const Wide<X>* factor, int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto launch = [&]<int N>() {
    const int64_t blocks = (n / N + kThreads - 1) / kThreads;
    if (blocks > std::numeric_limits<int32_t>::max()) return cudaErrorInvalidValue;
    scaled_kernel<Out, X, N><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(out, x, factor, n);
    return cudaGetLastError();
  };
  constexpr int kFull = kFullPack<Out>;
  if (takes_full_packs<Out>(n, out, x)) return launch.template operator()<kFull>();
  return launch.template operator()<1>();
}

#define LOCKSTEP_INSTANTIATE(Out, X) \
  template cudaError_t launch_scaled(Out*, const X*, const Wide<X>*, int64_t, cudaStream_t)
LOCKSTEP_INSTANTIATE(__nv_bfloat16, float);
LOCKSTEP_INSTANTIATE(__nv_bfloat16, __nv_bfloat16);
LOCKSTEP_INSTANTIATE(float, float);
LOCKSTEP_INSTANTIATE(double, double);
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::kernels
