// The GPU's side of the operator lockstep::add_squares_ (kernels/square_sum.cpp has its schema,
// checks its operands and calls it).
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/square_sum_kernel.h"

namespace lockstep::kernels {
namespace {

void add_squares_cuda(at::Tensor& digits, const at::Tensor& g, double scale) {
  const c10::cuda::CUDAGuard guard(g.device());
  const auto launch = [&](const auto* values) {
    C10_CUDA_CHECK(launch_add_squares(digits.mutable_data_ptr<int64_t>(), values, g.numel(), scale,
                                      c10::cuda::getCurrentCUDAStream()));
  };
  with_device_type(g.scalar_type(), [&]<typename T>(T) { launch(input<T>(g)); });
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("add_squares_", &lockstep::kernels::add_squares_cuda);
}
