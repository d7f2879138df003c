// Joins the kernel to the operator lockstep::adamw_, whose schema and CPU side are in
// kernels/adamw.cpp.
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/adamw_kernel.h"

namespace lockstep::kernels {
namespace {

template <typename T>
void update(at::Tensor& p, at::Tensor& m, at::Tensor& v, const at::Tensor& g, AdamWArgs<T> args) {
  args.p = p.mutable_data_ptr<T>();
  args.m = m.mutable_data_ptr<T>();
  args.v = v.mutable_data_ptr<T>();
  args.g = g.const_data_ptr<T>();
  args.n = p.numel();
  for (const T* start : {static_cast<const T*>(args.p), static_cast<const T*>(args.m),
                         static_cast<const T*>(args.v), args.g}) {
    LOCKSTEP_CHECK(reinterpret_cast<uintptr_t>(start) % 16 == 0)
        << "a shard must start at a multiple of 16 bytes";
  }
  C10_CUDA_CHECK(launch_adamw(args, c10::cuda::getCurrentCUDAStream()));
}

void adamw(at::Tensor& p, at::Tensor& m, at::Tensor& v, const at::Tensor& g, double lr, double beta1,
           double beta2, double eps, double weight_decay, int64_t step) {
  LOCKSTEP_CHECK(step >= 1) << "step " << step;
  for (const at::Tensor* t : {&static_cast<const at::Tensor&>(p), &static_cast<const at::Tensor&>(m),
                              &static_cast<const at::Tensor&>(v), &g}) {
    LOCKSTEP_CHECK(t->numel() == p.numel() && t->dtype() == p.dtype() && t->device() == p.device() &&
                   t->is_contiguous())
        << t->sizes() << " " << t->dtype() << " on " << t->device() << " beside " << p.sizes() << " "
        << p.dtype() << " on " << p.device();
  }
  const c10::cuda::CUDAGuard guard(p.device());
  if (p.scalar_type() == at::kDouble) {
    return update<double>(
        p, m, v, g,
        {.lr = lr, .beta1 = beta1, .beta2 = beta2, .eps = eps, .weight_decay = weight_decay, .step = step});
  }
  update<float>(
      p, m, v, g,
      {.lr = lr, .beta1 = beta1, .beta2 = beta2, .eps = eps, .weight_decay = weight_decay, .step = step});
}

}  // namespace
}  // namespace lockstep::kernels

TORCH_LIBRARY_IMPL(lockstep, CUDA, library) { library.impl("adamw_", &lockstep::kernels::adamw); }
