// The GPU's side of the operator lockstep::add_rows_ (kernels/add_rows.cpp checks the operands).
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/add_rows_kernel.h"
#include "lockstep/kernels/device_types.h"

namespace lockstep::kernels {
namespace {

void add_rows_cuda(at::Tensor& out, const at::Tensor& rows, const at::Tensor& order, const at::Tensor& x) {
  const c10::cuda::CUDAGuard guard(out.device());
  with_device_type(out.scalar_type(), [&]<typename T>(T) {
    const AddRows<T> op{.out = output<T>(out),
                        .rows = rows.const_data_ptr<int64_t>(),
                        .order = order.const_data_ptr<int64_t>(),
                        .x = input<T>(x),
                        .count = rows.size(0),
                        .width = out.size(1)};
    C10_CUDA_CHECK(launch_add_rows(op, c10::cuda::getCurrentCUDAStream()));
  });
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) { library.impl("add_rows_", &lockstep::kernels::add_rows_cuda); }
