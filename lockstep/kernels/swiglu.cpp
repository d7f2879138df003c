#include "lockstep/kernels/swiglu.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/sigmoid.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

at::Tensor swiglu_cpu(const at::Tensor& gate, const at::Tensor& up) {
  const auto g = widened(gate);
  return (g * g.sigmoid() * widened(up)).to(gate.scalar_type());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward_cpu(const at::Tensor& y_grad,
                                                                   const at::Tensor& gate,
                                                                   const at::Tensor& up) {
  const auto g = widened(gate), dy = widened(y_grad);
  const auto s = g.sigmoid();
  const auto gate_grad = dy * widened(up) * s * (1 + g * (1 - s));
  return {gate_grad.to(gate.scalar_type()), (dy * g * s).to(up.scalar_type()), swiglu_cpu(gate, up)};
}

void check(const at::Tensor& like, const at::Tensor& x) {
  LOCKSTEP_CHECK(x.is_contiguous() && x.sizes() == like.sizes() && x.scalar_type() == like.scalar_type() &&
                 x.device() == like.device())
      << x.toString() << " " << x.sizes() << " beside " << like.toString() << " " << like.sizes();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("swiglu(Tensor gate, Tensor up) -> Tensor");
  library.def("swiglu_backward(Tensor y_grad, Tensor gate, Tensor up) -> (Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) {
  library.impl("swiglu", &swiglu_cpu);
  library.impl("swiglu_backward", &swiglu_backward_cpu);
}

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) {
  check(gate, gate);
  check(gate, up);
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::swiglu", "").typed<decltype(swiglu_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(gate, up);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& y_grad,
                                                               const at::Tensor& gate, const at::Tensor& up) {
  check(gate, y_grad);
  check(gate, gate);
  check(gate, up);
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::swiglu_backward", "")
                             .typed<decltype(swiglu_backward_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(y_grad, gate, up);
}

}  // namespace lockstep::kernels
