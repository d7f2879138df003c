// The type that the kernels compute in, for their references on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::kernels {

// float32 for bfloat16 and float16; float32 and float64 for themselves.
inline at::ScalarType wide_type(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

inline at::Tensor widened(const at::Tensor& x) { return x.to(wide_type(x.scalar_type())); }

}  // namespace lockstep::kernels
