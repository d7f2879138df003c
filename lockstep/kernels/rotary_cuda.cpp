// The GPU's side of the operator lockstep::rotary (kernels/rotary.cpp checks the operands).
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/rotary_kernel.h"

namespace lockstep::kernels {
namespace {

HeadStrides strides_of(const at::Tensor& x) { return {x.stride(0), x.stride(1), x.stride(2)}; }

template <typename T>
RotaryHeads<T> part(const at::Tensor& y, const at::Tensor& x) {
  return {.y = output<T>(y),
          .x = input<T>(x),
          .y_strides = strides_of(y),
          .x_strides = strides_of(x),
          .heads = x.size(1)};
}

void rotary_cuda(at::TensorList y, at::TensorList x, const at::Tensor& cos, const at::Tensor& sin,
                 bool inverse) {
  const c10::cuda::CUDAGuard guard(cos.device());
  with_device_type(cos.scalar_type(), [&]<typename T>(T) {
    const Rotary<T> op{.parts = {part<T>(y[0], x[0]), part<T>(y[1], x[1]), part<T>(y[2], x[2])},
                       .cos = input<T>(cos),
                       .sin = input<T>(sin),
                       .table_stride = cos.size(0) == 1 ? 0 : cos.stride(0),
                       .rows = x[0].size(0),
                       .tokens = x[0].size(2),
                       .half = x[0].size(3) / 2,
                       .inverse = inverse};
    C10_CUDA_CHECK(launch_rotary(op, c10::cuda::getCurrentCUDAStream()));
  });
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) { library.impl("rotary_", &lockstep::kernels::rotary_cuda); }
