// loss[n] = log sum exp(x[n]) - x[n, t[n]], and x[n] <- softmax(x[n]) - one_hot(t[n]) in place
// (kernels/softmax_loss.h).
//
// x: [N, V] in bf16 (computed in float32), float32 or float64. A block takes a row: it finds the largest
// element and the sum of exponentials in one pass (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018) and writes in a second. Memory-bound: 2 reads and 1 write, 6 bytes an element in
// bf16, of which the second read comes from the cache as far as the rows under way fit in it.
#include <limits>
#include <type_traits>

#include "lockstep/kernels/device_pack.h"
#include "lockstep/kernels/softmax_loss_kernel.h"

namespace lockstep::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 1024;

// For bf16 within 2^-21 |x|, in two instructions: else these would take longer than memory does.
template <typename T>
__device__ Wide<T> exp_of(Wide<T> x) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __expf(x);
  else
    return exp(x);
}

// The sum of exp(x - largest) over the elements seen so far.
template <typename W>
struct Exponentials {
  static constexpr W kNothing = -std::numeric_limits<W>::infinity();
  W largest = kNothing;
  W sum = 0;

  __device__ void add(W other_largest, W other_sum) {
    const W most = largest > other_largest ? largest : other_largest;
    if (most == kNothing) return;  // on either side
    sum = sum * exp(largest - most) + other_sum * exp(other_largest - most);
    largest = most;
  }
  __device__ void add_lane(int offset) {
    add(__shfl_xor_sync(0xffffffff, largest, offset), __shfl_xor_sync(0xffffffff, sum, offset));
  }
};

// The same in every thread.
template <typename W>
__device__ Exponentials<W> over_block(Exponentials<W> own) {
  __shared__ W largest[kThreads / kWarp], sum[kThreads / kWarp];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  for (int offset = kWarp / 2; offset > 0; offset /= 2) own.add_lane(offset);
  if (lane == 0) {
    largest[warp] = own.largest;
    sum[warp] = own.sum;
  }
  __syncthreads();
  Exponentials<W> all{largest[lane], sum[lane]};
  for (int offset = kWarp / 2; offset > 0; offset /= 2) all.add_lane(offset);
  return all;
}

template <typename T, int N>
__global__ void __launch_bounds__(kThreads)
    softmax_loss_kernel(Wide<T>* loss, T* logits, const int64_t* targets, int64_t vocab, bool gradient) {
  using W = Wide<T>;
  T* row = logits + int64_t{blockIdx.x} * vocab;
  const int64_t target = targets[blockIdx.x];
  const W target_logit = W(row[target]);  // before anybody writes: over_block is a barrier
  Exponentials<W> own;
#pragma unroll 2
  for (int64_t v = int64_t{threadIdx.x} * N; v < vocab; v += kThreads * N) {
    const auto values = load<N>(row + v);
    W largest = W(values.at[0]);
#pragma unroll
    for (int i = 1; i < N; ++i) largest = W(values.at[i]) > largest ? W(values.at[i]) : largest;
    W sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += exp_of<T>(W(values.at[i]) - largest);
    own.add(largest, sum);
  }
  const Exponentials<W> all = over_block(own);
  const W log_sum = all.largest + log(all.sum);
  if (threadIdx.x == 0) loss[blockIdx.x] = log_sum - target_logit;
  if (!gradient) return;
#pragma unroll 2
  for (int64_t v = int64_t{threadIdx.x} * N; v < vocab; v += kThreads * N) {
    auto values = load<N>(row + v);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const W hit = v + i == target ? W(1) : W(0);
      values.at[i] = T(exp_of<T>(W(values.at[i]) - log_sum) - hit);
    }
    store(row + v, values);
  }
}

}  // namespace

template <typename T>
cudaError_t launch_softmax_loss(Wide<T>* loss, T* logits, const int64_t* targets, int64_t rows, int64_t vocab,
                                bool gradient, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(rows);
  if (takes_full_packs<T>(vocab, logits)) {
    softmax_loss_kernel<T, kFullPack<T>>
        <<<blocks, kThreads, 0, stream>>>(loss, logits, targets, vocab, gradient);
  } else {
    softmax_loss_kernel<T, 1><<<blocks, kThreads, 0, stream>>>(loss, logits, targets, vocab, gradient);
  }
  return cudaGetLastError();
}

#define LOCKSTEP_INSTANTIATE(T) \
  template cudaError_t launch_softmax_loss(Wide<T>*, T*, const int64_t*, int64_t, int64_t, bool, cudaStream_t)
LOCKSTEP_INSTANTIATE(__nv_bfloat16);
LOCKSTEP_INSTANTIATE(float);
LOCKSTEP_INSTANTIATE(double);
#undef LOCKSTEP_INSTANTIATE

}  // namespace lockstep::kernels
