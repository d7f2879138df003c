// A sum over the threads of a block, in an order that depends on their number alone.
#pragma once

namespace lockstep::kernels {

constexpr int kWarp = 32;

// The same in every thread; a block of whole warps. `warps`: one for each warp, shared, not those of the sum
// before unless the block has synchronised since.
template <typename W>
__device__ W sum_over_block(W value, W* warps) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  W sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) sum += warps[warp];
  return sum;
}

}  // namespace lockstep::kernels
