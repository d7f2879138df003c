// The GPU's side of the operator lockstep::adamw_ (kernels/adamw.cpp has its schema, checks
// its operands and calls it).
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/adamw_kernel.h"

namespace lockstep::kernels {
namespace {

template <typename S, typename G = S>
AdamWShard<S, G> shard_of(const at::Tensor& p, const at::Tensor& m, const at::Tensor& v, const at::Tensor& g,
                          const std::optional<at::Tensor>& copy) {
  for (const at::Tensor* t : {&p, &m, &v, &g, copy ? &*copy : &p}) {
    LOCKSTEP_CHECK(reinterpret_cast<uintptr_t>(t->const_data_ptr()) % 16 == 0)
        << "a shard must start at a multiple of 16 bytes";
  }
  return {static_cast<S*>(p.mutable_data_ptr()),
          static_cast<S*>(m.mutable_data_ptr()),
          static_cast<S*>(v.mutable_data_ptr()),
          static_cast<const G*>(g.const_data_ptr()),
          copy ? static_cast<__nv_bfloat16*>(copy->mutable_data_ptr()) : nullptr,
          p.numel()};
}

void adamw_cuda(at::Tensor& p, at::Tensor& m, at::Tensor& v, const at::Tensor& g, double lr, double beta1,
                double beta2, double eps, double weight_decay, int64_t step, double grad_scale,
                const std::optional<at::Tensor>& copy) {
  const c10::cuda::CUDAGuard guard(p.device());
  const auto launch = [&](const auto& shard) {
    C10_CUDA_CHECK(launch_adamw(shard, lr, beta1, beta2, eps, weight_decay, step, grad_scale,
                                c10::cuda::getCurrentCUDAStream()));
  };
  if (p.scalar_type() == at::kDouble) return launch(shard_of<double>(p, m, v, g.to(at::kDouble), copy));
  const bool narrow_gradient = g.scalar_type() == at::kBFloat16;
  if (p.scalar_type() == at::kBFloat16) {
    return narrow_gradient ? launch(shard_of<__nv_bfloat16>(p, m, v, g, copy))
                           : launch(shard_of<__nv_bfloat16, float>(p, m, v, g, copy));
  }
  if (narrow_gradient) return launch(shard_of<float, __nv_bfloat16>(p, m, v, g, copy));
  launch(shard_of<float>(p, m, v, g, copy));
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) { library.impl("adamw_", &lockstep::kernels::adamw_cuda); }
