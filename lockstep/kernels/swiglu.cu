// y = silu(gate) * up and its gradient (kernels/swiglu.h), elementwise.
//
// All [n], bf16 (computed in float32), float32 or float64. Memory-bound: forward reads 2 and writes 1, 6
// bytes an element in bf16; backward reads 3 and writes 3, 12 bytes.
#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/swiglu_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;

template <typename W>
__device__ W sigmoid(W x) {
  return W(1) / (W(1) + exp(-x));
}

template <typename T, int N>
__global__ void swiglu_kernel(T* y, const T* gate, const T* up, int64_t n) {
  using W = Wide<T>;
  const int64_t start = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N;
  if (start >= n) return;
  const auto gates = load<N>(gate + start), ups = load<N>(up + start);
  DevicePack<T, N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const W g = W(gates.at[i]);
    out.at[i] = T(g * sigmoid(g) * W(ups.at[i]));
  }
  store(y + start, out);
}

template <typename T, int N>
__global__ void swiglu_backward_kernel(T* gate_grad, T* up_grad, T* y, const T* y_grad, const T* gate,
                                       const T* up, int64_t n) {
  using W = Wide<T>;
  const int64_t start = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N;
  if (start >= n) return;
  const auto grads = load<N>(y_grad + start), gates = load<N>(gate + start), ups = load<N>(up + start);
  DevicePack<T, N> d_gate, d_up, out;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const W g = W(gates.at[i]), u = W(ups.at[i]), dy = W(grads.at[i]), s = sigmoid(g);
    out.at[i] = T(g * s * u);
    d_gate.at[i] = T(dy * u * s * (W(1) + g * (W(1) - s)));
    d_up.at[i] = T(dy * g * s);
  }
  store(gate_grad + start, d_gate);
  store(up_grad + start, d_up);
  store(y + start, out);
}

template <typename T, int N>
unsigned blocks_for(int64_t n) {
  constexpr int64_t kPerBlock = int64_t{kThreads} * N;
  return static_cast<unsigned>((n + kPerBlock - 1) / kPerBlock);
}

}  // namespace

template <typename T>
cudaError_t launch_swiglu(T* y, const T* gate, const T* up, int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  constexpr int N = kFullPack<T>;
  if (takes_full_packs<T>(n, y, gate, up)) {
    swiglu_kernel<T, N><<<blocks_for<T, N>(n), kThreads, 0, stream>>>(y, gate, up, n);
  } else {
    swiglu_kernel<T, 1><<<blocks_for<T, 1>(n), kThreads, 0, stream>>>(y, gate, up, n);
  }
  return cudaGetLastError();
}

template <typename T>
cudaError_t launch_swiglu_backward(T* gate_grad, T* up_grad, T* y, const T* y_grad, const T* gate,
                                   const T* up, int64_t n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  constexpr int N = kFullPack<T>;
  if (takes_full_packs<T>(n, gate_grad, up_grad, y, y_grad, gate, up)) {
    swiglu_backward_kernel<T, N>
        <<<blocks_for<T, N>(n), kThreads, 0, stream>>>(gate_grad, up_grad, y, y_grad, gate, up, n);
  } else {
    swiglu_backward_kernel<T, 1>
        <<<blocks_for<T, 1>(n), kThreads, 0, stream>>>(gate_grad, up_grad, y, y_grad, gate, up, n);
  }
  return cudaGetLastError();
}

#define LOCKSTEP_INSTANTIATE(T)                                                      \
  template cudaError_t launch_swiglu(T*, const T*, const T*, int64_t, cudaStream_t); \
  template cudaError_t launch_swiglu_backward(T*, T*, T*, const T*, const T*, const T*, int64_t, cudaStream_t)
LOCKSTEP_INSTANTIATE(__nv_bfloat16);
LOCKSTEP_INSTANTIATE(float);
LOCKSTEP_INSTANTIATE(double);
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::kernels
