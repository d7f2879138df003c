// The GPU's side of the operator lockstep::scaled_ (kernels/scaled.cpp checks the operands).
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/scaled_kernel.h"

namespace lockstep::kernels {
namespace {

void scaled_cuda(at::Tensor& out, const at::Tensor& x, const at::Tensor& factor) {
  const c10::cuda::CUDAGuard guard(x.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  if (out.scalar_type() != x.scalar_type()) {
    C10_CUDA_CHECK(
        launch_scaled(output<__nv_bfloat16>(out), input<float>(x), input<float>(factor), x.numel(), stream));
    return;
  }
  with_device_type(x.scalar_type(), [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_scaled(output<T>(out), input<T>(x), input<Wide<T>>(factor), x.numel(), stream));
  });
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) { library.impl("scaled_", &lockstep::kernels::scaled_cuda); }
