// What the kernels over bf16 share: several neighbouring elements as one access, and the type to compute in.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <type_traits>

namespace lockstep::kernels {

// bf16 is computed in float32; float32 and float64 in themselves.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

// N elements read or written at once; N * sizeof(T) is at most 16 bytes, the widest access there is, and
// the address must be a multiple of it.
template <typename T, int N>
struct alignas(N * sizeof(T)) DevicePack {
  T at[N];
};

template <typename T>
constexpr int kFullPack = 16 / sizeof(T);

template <int N, typename T>
__device__ DevicePack<T, N> load(const T* from) {
  return *reinterpret_cast<const DevicePack<T, N>*>(from);
}
template <typename T, int N>
__device__ void store(T* to, const DevicePack<T, N>& values) {
  *reinterpret_cast<DevicePack<T, N>*>(to) = values;
}

// Whether rows of `width` elements that start at these addresses can be read in whole packs.
template <typename T, typename... Pointers>
bool takes_full_packs(int64_t width, Pointers... pointers) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(pointers) % 16 == 0) && ...);
  return aligned && width % kFullPack<T> == 0;
}

}  // namespace lockstep::kernels
