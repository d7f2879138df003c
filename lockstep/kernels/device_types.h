// Calls a launcher with the element type of its tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <cuda_bf16.h>

#include "lockstep/base/check.h"

namespace lockstep::kernels {

// launch(T{}) with T: __nv_bfloat16, float or double, as `type` says. CHECKs that it is one of them.
template <typename Launch>
void with_device_type(at::ScalarType type, const Launch& launch) {
  switch (type) {
    case at::kBFloat16:
      return launch(__nv_bfloat16{});
    case at::kFloat:
      return launch(float{});
    case at::kDouble:
      return launch(double{});
    default:
      LOCKSTEP_CHECK(false) << "no kernel for dtype " << type;
  }
}

template <typename T>
const T* input(const at::Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}
template <typename T>
T* output(const at::Tensor& x) {
  return static_cast<T*>(x.mutable_data_ptr());
}

}  // namespace lockstep::kernels
