// The GPU's side of the operator lockstep::softmax_loss_ (kernels/softmax_loss.cpp checks the operands).
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/kernels/device_types.h"
#include "lockstep/kernels/softmax_loss_kernel.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

at::Tensor softmax_loss_cuda(at::Tensor& logits, const at::Tensor& targets, bool gradient) {
  const c10::cuda::CUDAGuard guard(logits.device());
  const auto type = logits.scalar_type();
  const at::Tensor loss = at::empty({logits.size(0)}, logits.options().dtype(wide_type(type)));
  with_device_type(type, [&]<typename T>(T) {
    C10_CUDA_CHECK(launch_softmax_loss<T>(output<Wide<T>>(loss), output<T>(logits), input<int64_t>(targets),
                                          logits.size(0), logits.size(1), gradient,
                                          c10::cuda::getCurrentCUDAStream()));
  });
  return loss;
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) {
  library.impl("softmax_loss_", &lockstep::kernels::softmax_loss_cuda);
}
