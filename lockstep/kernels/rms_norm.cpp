#include "lockstep/kernels/rms_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> rms_norm_cpu(const at::Tensor& x,
                                                            const std::optional<at::Tensor>& residual,
                                                            const at::Tensor& weight, double eps) {
  const at::Tensor h = residual ? x + *residual : x;
  const auto wide = widened(h);
  const auto r = (wide.square().mean(-1) + eps).rsqrt();
  return {(wide * r.unsqueeze(-1) * widened(weight)).to(x.scalar_type()), h, r};
}

at::Tensor rms_norm_backward_cpu(at::Tensor& weight_grad, const at::Tensor& y_grad,
                                 const std::optional<at::Tensor>& h_grad, const at::Tensor& h,
                                 const at::Tensor& weight, const at::Tensor& r) {
  const auto scale = r.unsqueeze(-1);
  const auto g = widened(y_grad), normed = widened(h) * scale, wg = g * widened(weight);
  auto dh = scale * (wg - normed * (wg * normed).mean(-1, /*keepdim=*/true));
  if (h_grad) dh += widened(*h_grad);
  weight_grad.copy_((g * normed).flatten(0, -2).sum(0));
  return dh.to(h.scalar_type());
}

void check(const at::Tensor& like, const at::Tensor& t) {
  LOCKSTEP_CHECK(t.dim() >= 2 && t.is_contiguous() && t.sizes() == like.sizes() &&
                 t.scalar_type() == like.scalar_type() && t.device() == like.device())
      << t.toString() << " " << t.sizes() << " beside " << like.toString() << " " << like.sizes();
}

void check_weight(const at::Tensor& like, const at::Tensor& weight) {
  LOCKSTEP_CHECK(weight.dim() == 1 && weight.is_contiguous() && weight.size(0) == like.size(-1) &&
                 weight.scalar_type() == like.scalar_type() && weight.device() == like.device())
      << weight.toString() << " " << weight.sizes() << " for rows of " << like.toString() << " "
      << like.sizes();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  // Without a residual h is x itself, hence the alias.
  library.def(
      "rms_norm(Tensor(a) x, Tensor? residual, Tensor weight, float eps) -> (Tensor, Tensor(a), Tensor)");
  library.def(
      "rms_norm_backward_(Tensor(a!) weight_grad, Tensor y_grad, Tensor? h_grad, Tensor h, Tensor weight, "
      "Tensor r) -> Tensor");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) {
  library.impl("rms_norm", &rms_norm_cpu);
  library.impl("rms_norm_backward_", &rms_norm_backward_cpu);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> rms_norm(const at::Tensor& x,
                                                        const std::optional<at::Tensor>& residual,
                                                        const at::Tensor& weight, double eps) {
  check(x, x);
  if (residual) check(x, *residual);
  check_weight(x, weight);
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::rms_norm", "")
                             .typed<decltype(rms_norm_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(x, residual, weight, eps);
}

at::Tensor rms_norm_backward(at::Tensor weight_grad, const at::Tensor& y_grad,
                             const std::optional<at::Tensor>& h_grad, const at::Tensor& h,
                             const at::Tensor& weight, const at::Tensor& r) {
  check(h, h);
  check(h, y_grad);
  if (h_grad) check(h, *h_grad);
  check_weight(h, weight);
  check_weight(h, weight_grad);
  LOCKSTEP_CHECK(r.is_contiguous() && r.numel() * h.size(-1) == h.numel() &&
                 r.scalar_type() == wide_type(h.scalar_type()))
      << r.toString() << " " << r.sizes();
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::rms_norm_backward_", "")
                             .typed<decltype(rms_norm_backward_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(weight_grad, y_grad, h_grad, h, weight, r);
}

}  // namespace lockstep::kernels
