// The GPU's side of the operator lockstep::add_squares_ (kernels/square_sum.cpp has its schema,
// checks its operands and calls it).
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
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

at::Tensor square_parts_cuda(const at::Tensor& g) {
  const c10::cuda::CUDAGuard guard(g.device());
  const at::Tensor parts = at::empty({square_part_count(g.numel())}, g.options().dtype(at::kDouble));
  with_device_type(g.scalar_type(), [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_square_parts(output<double>(parts), input<T>(g), g.numel(),
                                       c10::cuda::getCurrentCUDAStream()));
  });
  return parts;
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("add_squares_", &lockstep::kernels::add_squares_cuda);
  library.impl("square_parts", &lockstep::kernels::square_parts_cuda);
}
