// The GPU's side of the operators of kernels/swiglu.cpp, which checks the operands.
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/side_by_side.h"
#include "lockstep/kernels/swiglu_kernel.h"

namespace lockstep::kernels {
namespace {

// Elements from one row to the next.
int64_t row_stride(const at::Tensor& x) { return x.view({-1, x.size(-1)}).stride(0); }

SwigluRows rows_of(const at::Tensor& gate, const at::Tensor& gate_grad) {
  if (gate.numel() == 0) return {};
  return {.rows = gate.numel() / gate.size(-1),
          .width = gate.size(-1),
          .stride = row_stride(gate),
          .grad_stride = row_stride(gate_grad)};
}

at::Tensor swiglu_cuda(const at::Tensor& gate, const at::Tensor& up) {
  const c10::cuda::CUDAGuard guard(gate.device());
  const at::Tensor y = at::empty(gate.sizes(), gate.options());
  with_device_type(gate.scalar_type(), [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_swiglu(output<T>(y), input<T>(gate), input<T>(up), rows_of(gate, gate),
                                 c10::cuda::getCurrentCUDAStream()));
  });
  return y;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward_cuda(const at::Tensor& y_grad,
                                                                    const at::Tensor& gate,
                                                                    const at::Tensor& up) {
  const c10::cuda::CUDAGuard guard(gate.device());
  const auto grads = empty_columns_like({gate, up});
  const at::Tensor y = at::empty(gate.sizes(), gate.options());
  with_device_type(gate.scalar_type(), [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_swiglu_backward(output<T>(grads[0]), output<T>(grads[1]), output<T>(y),
                                          input<T>(y_grad), input<T>(gate), input<T>(up),
                                          rows_of(gate, grads[0]), c10::cuda::getCurrentCUDAStream()));
  });
  return {grads[0], grads[1], y};
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("swiglu", &lockstep::kernels::swiglu_cuda);
  library.impl("swiglu_backward", &lockstep::kernels::swiglu_backward_cuda);
}
