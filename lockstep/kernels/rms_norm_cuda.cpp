// The GPU's side of the operators of kernels/rms_norm.cpp, which checks the operands.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/rms_norm_kernel.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

void check_width(const at::Tensor& x) {
  LOCKSTEP_CHECK(x.size(-1) <= kRmsNormMaxWidth)
      << "rows of " << x.size(-1) << " elements to norm; a GPU takes at most " << kRmsNormMaxWidth;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> rms_norm_cuda(const at::Tensor& x,
                                                             const std::optional<at::Tensor>& residual,
                                                             const at::Tensor& weight, double eps) {
  check_width(x);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor y = at::empty_like(x), h = residual ? at::empty_like(x) : x;
  const at::Tensor r =
      at::empty(x.sizes().slice(0, x.dim() - 1), x.options().dtype(wide_type(x.scalar_type())));
  with_device_type(x.scalar_type(), [&]<typename T>(T) {
    const RmsNorm<T> op{.y = output<T>(y),
                        .h = residual ? output<T>(h) : nullptr,
                        .r = output<Wide<T>>(r),
                        .x = input<T>(x),
                        .residual = residual ? input<T>(*residual) : nullptr,
                        .weight = input<T>(weight),
                        .rows = r.numel(),
                        .width = x.size(-1),
                        .eps = eps};
    C10_CUDA_CHECK(launch_rms_norm(op, c10::cuda::getCurrentCUDAStream()));
  });
  return {y, h, r};
}

at::Tensor rms_norm_backward_cuda(at::Tensor& weight_grad, const at::Tensor& y_grad,
                                  const std::optional<at::Tensor>& h_grad, const at::Tensor& h,
                                  const at::Tensor& weight, const at::Tensor& r) {
  check_width(h);
  const c10::cuda::CUDAGuard guard(h.device());
  const at::Tensor h_grad_out = at::empty_like(h);
  const at::Tensor partial = at::empty({rms_norm_groups(r.numel(), h.size(-1)), h.size(-1)}, r.options());
  with_device_type(h.scalar_type(), [&]<typename T>(T) {
    const RmsNormGradient<T> op{.h_grad_out = output<T>(h_grad_out),
                                .weight_grad = output<T>(weight_grad),
                                .partial = output<Wide<T>>(partial),
                                .y_grad = input<T>(y_grad),
                                .h_grad = h_grad ? input<T>(*h_grad) : nullptr,
                                .h = input<T>(h),
                                .weight = input<T>(weight),
                                .r = input<Wide<T>>(r),
                                .rows = r.numel(),
                                .width = h.size(-1)};
    C10_CUDA_CHECK(launch_rms_norm_backward(op, c10::cuda::getCurrentCUDAStream()));
  });
  return h_grad_out;
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("rms_norm", &lockstep::kernels::rms_norm_cuda);
  library.impl("rms_norm_backward_", &lockstep::kernels::rms_norm_backward_cuda);
}
