// The GPU's side of the operators of kernels/swiglu.cpp, which checks the operands.
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/swiglu_kernel.h"

namespace lockstep::kernels {
namespace {

at::Tensor swiglu_cuda(const at::Tensor& gate, const at::Tensor& up) {
  const c10::cuda::CUDAGuard guard(gate.device());
  const at::Tensor y = at::empty_like(gate);
  with_device_type(gate.scalar_type(), [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_swiglu(output<T>(y), input<T>(gate), input<T>(up), gate.numel(),
                                 c10::cuda::getCurrentCUDAStream()));
  });
  return y;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward_cuda(const at::Tensor& y_grad,
                                                                    const at::Tensor& gate,
                                                                    const at::Tensor& up) {
  const c10::cuda::CUDAGuard guard(gate.device());
  const at::Tensor gate_grad = at::empty_like(gate), up_grad = at::empty_like(up), y = at::empty_like(gate);
  with_device_type(gate.scalar_type(), [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_swiglu_backward(output<T>(gate_grad), output<T>(up_grad), output<T>(y),
                                          input<T>(y_grad), input<T>(gate), input<T>(up), gate.numel(),
                                          c10::cuda::getCurrentCUDAStream()));
  });
  return {gate_grad, up_grad, y};
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("swiglu", &lockstep::kernels::swiglu_cuda);
  library.impl("swiglu_backward", &lockstep::kernels::swiglu_backward_cuda);
}
