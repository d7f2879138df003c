#include "lockstep/kernels/swiglu.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/sigmoid.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/side_by_side.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

at::Tensor swiglu_cpu(const at::Tensor& gate, const at::Tensor& up) {
  const auto g = widened(gate);
  return (g * g.sigmoid() * widened(up)).to(gate.scalar_type()).contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward_cpu(const at::Tensor& y_grad,
                                                                   const at::Tensor& gate,
                                                                   const at::Tensor& up) {
  const auto g = widened(gate), dy = widened(y_grad);
  const auto s = g.sigmoid();
  const auto grads = empty_columns_like({gate, up});
  grads[0].copy_(dy * widened(up) * s * (1 + g * (1 - s)));
  grads[1].copy_(dy * g * s);
  return {grads[0], grads[1], swiglu_cpu(gate, up)};
}

bool has_even_rows(const at::Tensor& x) {
  int64_t rows = 1, distance = 0;
  for (int64_t dim = x.dim() - 2; dim >= 0; --dim) {
    if (x.size(dim) == 1) continue;
    if (rows == 1) distance = x.stride(dim);
    if (x.stride(dim) != distance * rows) return false;
    rows *= x.size(dim);
  }
  return x.stride(-1) == 1;
}

void check(const at::Tensor& gate, const at::Tensor& up) {
  LOCKSTEP_CHECK(gate.dim() > 0 && has_even_rows(gate) && up.sizes() == gate.sizes() &&
                 up.strides() == gate.strides() && up.scalar_type() == gate.scalar_type() &&
                 up.device() == gate.device())
      << up.toString() << " " << up.sizes() << " with strides " << up.strides() << " beside "
      << gate.toString() << " " << gate.sizes() << " with strides " << gate.strides();
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
  check(gate, up);
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::swiglu", "").typed<decltype(swiglu_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(gate, up);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& y_grad,
                                                               const at::Tensor& gate, const at::Tensor& up) {
  check(gate, up);
  LOCKSTEP_CHECK(y_grad.is_contiguous() && y_grad.sizes() == gate.sizes() &&
                 y_grad.scalar_type() == gate.scalar_type() && y_grad.device() == gate.device())
      << y_grad.toString() << " " << y_grad.sizes() << " for " << gate.toString() << " " << gate.sizes();
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::swiglu_backward", "")
                             .typed<decltype(swiglu_backward_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(y_grad, gate, up);
}

}  // namespace lockstep::kernels
