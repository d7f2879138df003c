// y = silu(gate) * up and its gradient (kernels/swiglu.h), elementwise.
//
// All [rows, width], bf16 (computed in float32), float32 or float64. Memory-bound: forward reads 2 and writes
// 1, 6 bytes an element in bf16; backward reads 3 and writes 3, 12 bytes.
#include <limits>

#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/swiglu_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kThreads = 256;

template <typename W>
__device__ W sigmoid(W x) {
  return W(1) / (W(1) + exp(-x));
}

// Where a thread's N elements begin: in contiguous rows, in those of gate and up, in their gradients'.
struct Place {
  int64_t dense, in, grad;
};

template <int N>
__device__ bool find_place(const SwigluRows& rows, Place& place) {
  const auto packs = static_cast<uint32_t>(rows.width / N);
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x, row = index / packs;
  if (row >= rows.rows) return false;
  const int64_t column = int64_t{index % packs} * N;
  place = {int64_t{index} * N, row * rows.stride + column, row * rows.grad_stride + column};
  return true;
}

template <typename T, int N>
__global__ void swiglu_kernel(T* y, const T* gate, const T* up, SwigluRows rows) {
  using W = Wide<T>;
  Place place;
  if (!find_place<N>(rows, place)) return;
  const auto gates = load<N>(gate + place.in), ups = load<N>(up + place.in);
  DevicePack<T, N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const W g = W(gates.at[i]);
    out.at[i] = T(g * sigmoid(g) * W(ups.at[i]));
  }
  store(y + place.dense, out);
}

template <typename T, int N>
__global__ void swiglu_backward_kernel(T* gate_grad, T* up_grad, T* y, const T* y_grad, const T* gate,
                                       const T* up, SwigluRows rows) {
  using W = Wide<T>;
  Place place;
  if (!find_place<N>(rows, place)) return;
  const auto grads = load<N>(y_grad + place.dense), gates = load<N>(gate + place.in),
             ups = load<N>(up + place.in);
  DevicePack<T, N> d_gate, d_up, out;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const W g = W(gates.at[i]), u = W(ups.at[i]), dy = W(grads.at[i]), s = sigmoid(g);
    out.at[i] = T(g * s * u);
    d_gate.at[i] = T(dy * u * s * (W(1) + g * (W(1) - s)));
    d_up.at[i] = T(dy * g * s);
  }
  store(gate_grad + place.grad, d_gate);
  store(up_grad + place.grad, d_up);
  store(y + place.dense, out);
}

template <typename T>
bool takes_packs(const SwigluRows& rows) {
  return rows.width % kFullPack<T> == 0 && rows.stride % kFullPack<T> == 0 &&
         rows.grad_stride % kFullPack<T> == 0;
}

// Blocks for a thread per N elements; 0: too many.
template <int N>
unsigned blocks_for(const SwigluRows& rows) {
  const int64_t threads = rows.rows * (rows.width / N);
  if (threads > std::numeric_limits<uint32_t>::max() - kThreads) return 0;
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

template <typename T>
cudaError_t launch_swiglu(T* y, const T* gate, const T* up, const SwigluRows& rows, cudaStream_t stream) {
  if (rows.rows * rows.width == 0) return cudaSuccess;
  const auto launch = [&]<int N>() {
    const unsigned blocks = blocks_for<N>(rows);
    if (blocks == 0) return cudaErrorInvalidValue;
    swiglu_kernel<T, N><<<blocks, kThreads, 0, stream>>>(y, gate, up, rows);
    return cudaGetLastError();
  };
  if (takes_packs<T>(rows) && takes_full_packs<T>(rows.width, y, gate, up))
    return launch.template operator()<kFullPack<T>>();
  return launch.template operator()<1>();
}

template <typename T>
cudaError_t launch_swiglu_backward(T* gate_grad, T* up_grad, T* y, const T* y_grad, const T* gate,
                                   const T* up, const SwigluRows& rows, cudaStream_t stream) {
  if (rows.rows * rows.width == 0) return cudaSuccess;
  const auto launch = [&]<int N>() {
    const unsigned blocks = blocks_for<N>(rows);
    if (blocks == 0) return cudaErrorInvalidValue;
    swiglu_backward_kernel<T, N>
        <<<blocks, kThreads, 0, stream>>>(gate_grad, up_grad, y, y_grad, gate, up, rows);
    return cudaGetLastError();
  };
  if (takes_packs<T>(rows) && takes_full_packs<T>(rows.width, gate_grad, up_grad, y, y_grad, gate, up))
    return launch.template operator()<kFullPack<T>>();
  return launch.template operator()<1>();
}

#define LOCKSTEP_INSTANTIATE(T)                                                                            \
  template cudaError_t launch_swiglu(T*, const T*, const T*, const SwigluRows&, cudaStream_t);             \
  template cudaError_t launch_swiglu_backward(T*, T*, T*, const T*, const T*, const T*, const SwigluRows&, \
                                              cudaStream_t)
LOCKSTEP_INSTANTIATE(__nv_bfloat16);
LOCKSTEP_INSTANTIATE(float);
LOCKSTEP_INSTANTIATE(double);
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::kernels
