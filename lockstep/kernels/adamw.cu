// Fused AdamW over one flat shard:
//
//   g = g * grad_scale
//   m = m + (1 - b1) * (g - m)
//   v = b2 * v + (1 - b2) * g * g
//   p = p * (1 - lr * wd) - lr / (1 - b1^t) * (m / (sqrt(v) / sqrt(1 - b2^t) + eps))
//
// p, m, v: [S], all float32, all float64 or all bf16, which is computed in float32; g: what is computed in,
// or bf16; t: the step, from 1. What does not depend on the element is worked out in double on the host.
// Compiled without contraction into fused multiply-adds, so an element has the CPU's bits wherever it stands
// in the shard. Memory-bound: 4 reads and 3 writes, 28 bytes an element in float32, 26 with a bf16 gradient,
// 2 more with a bf16 copy of the result; 14 where p, m, v and g are bf16.
#include <cmath>

#include "lockstep/kernels/adamw_kernel.h"

namespace lockstep::kernels {
namespace {

template <typename T>
struct Scalars {
  T decay, one_minus_beta1, beta2, one_minus_beta2, step_size, sqrt_bias2, eps, grad_scale;
};

// 16 bytes a thread and tensor: the widest access there is.
template <typename S>
constexpr int kWidth = 16 / sizeof(S);

template <typename S>
struct Computed {
  using Type = S;
};
template <>
struct Computed<__nv_bfloat16> {
  using Type = float;
};

template <typename T, int N>
struct alignas(N * sizeof(T)) Pack {
  T at[N];
};

constexpr int kThreads = 256;

// S: what is stored, T: what is computed in.
template <typename S, typename T>
__device__ void update(S& p, S& m, S& v, T g, const Scalars<T>& s) {
  g *= s.grad_scale;
  const T old_m = T(m);
  const T new_m = old_m + s.one_minus_beta1 * (g - old_m);
  const T new_v = s.beta2 * T(v) + s.one_minus_beta2 * (g * g);
  m = S(new_m);
  v = S(new_v);
  p = S(T(p) * s.decay - s.step_size * (new_m / (sqrt(new_v) / s.sqrt_bias2 + s.eps)));
}

template <typename S, typename G, typename T>
__global__ void adamw_kernel(S* p, S* m, S* v, const G* g, __nv_bfloat16* copy, int64_t n, Scalars<T> s) {
  constexpr int N = kWidth<S>;
  const int64_t start = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N;
  if (start + N <= n) {
    auto& p_pack = *reinterpret_cast<Pack<S, N>*>(p + start);
    auto& m_pack = *reinterpret_cast<Pack<S, N>*>(m + start);
    auto& v_pack = *reinterpret_cast<Pack<S, N>*>(v + start);
    const Pack<G, N> gs = *reinterpret_cast<const Pack<G, N>*>(g + start);
    Pack<S, N> ps = p_pack, ms = m_pack, vs = v_pack;
#pragma unroll
    for (int i = 0; i < N; ++i) update(ps.at[i], ms.at[i], vs.at[i], T(gs.at[i]), s);
    if (copy != nullptr) {
      Pack<__nv_bfloat16, N> rounded;
#pragma unroll
      for (int i = 0; i < N; ++i) rounded.at[i] = __nv_bfloat16(ps.at[i]);
      *reinterpret_cast<Pack<__nv_bfloat16, N>*>(copy + start) = rounded;
    }
    p_pack = ps;
    m_pack = ms;
    v_pack = vs;
  } else {
    for (int64_t i = start; i < n; ++i) {
      update(p[i], m[i], v[i], T(g[i]), s);
      if (copy != nullptr) copy[i] = __nv_bfloat16(p[i]);
    }
  }
}

}  // namespace

template <typename S, typename G>
cudaError_t launch_adamw(const AdamWShard<S, G>& shard, double lr, double beta1, double beta2, double eps,
                         double weight_decay, int64_t step, double grad_scale, cudaStream_t stream) {
  if (shard.n == 0) return cudaSuccess;
  using T = typename Computed<S>::Type;
  const double bias1 = 1 - std::pow(beta1, static_cast<double>(step));
  const double bias2 = 1 - std::pow(beta2, static_cast<double>(step));
  const Scalars<T> scalars{static_cast<T>(1 - lr * weight_decay),
                           static_cast<T>(1 - beta1),
                           static_cast<T>(beta2),
                           static_cast<T>(1 - beta2),
                           static_cast<T>(lr / bias1),
                           static_cast<T>(std::sqrt(bias2)),
                           static_cast<T>(eps),
                           static_cast<T>(grad_scale)};
  constexpr int64_t kPerBlock = int64_t{kThreads} * kWidth<S>;
  const auto blocks = static_cast<unsigned>((shard.n + kPerBlock - 1) / kPerBlock);
  adamw_kernel<S, G, T>
      <<<blocks, kThreads, 0, stream>>>(shard.p, shard.m, shard.v, shard.g, shard.copy, shard.n, scalars);
  return cudaGetLastError();
}

template cudaError_t launch_adamw(const AdamWShard<__nv_bfloat16>&, double, double, double, double, double,
                                  int64_t, double, cudaStream_t);
template cudaError_t launch_adamw(const AdamWShard<__nv_bfloat16, float>&, double, double, double, double,
                                  double, int64_t, double, cudaStream_t);
template cudaError_t launch_adamw(const AdamWShard<float, __nv_bfloat16>&, double, double, double, double,
                                  double, int64_t, double, cudaStream_t);
template cudaError_t launch_adamw(const AdamWShard<float>&, double, double, double, double, double, int64_t,
                                  double, cudaStream_t);
template cudaError_t launch_adamw(const AdamWShard<double>&, double, double, double, double, double, int64_t,
                                  double, cudaStream_t);

}  // namespace lockstep::kernels
