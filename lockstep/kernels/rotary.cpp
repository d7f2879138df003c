#include "lockstep/kernels/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cat.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

void turn(const at::Tensor& y, const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
          bool inverse) {
  const int64_t half = x.size(-1) / 2;
  const auto first = widened(x.narrow(-1, 0, half)), second = widened(x.narrow(-1, half, half));
  const auto c = widened(cos), s = inverse ? -widened(sin) : widened(sin);
  y.copy_(at::cat({first * c - second * s, second * c + first * s}, -1));
}

void rotary_cpu(at::TensorList y, at::TensorList x, const at::Tensor& cos, const at::Tensor& sin,
                bool inverse) {
  for (const size_t i : {0, 1}) turn(y[i], x[i], cos, sin, inverse);
  y[2].copy_(x[2]);
}

void check(const at::Tensor& y, const at::Tensor& x, const at::Tensor& like) {
  LOCKSTEP_CHECK(x.dim() == 4 && x.size(-1) % 2 == 0 && x.stride(-1) == 1 && x.size(0) == like.size(0) &&
                 x.size(2) == like.size(2) && x.size(3) == like.size(3) &&
                 x.scalar_type() == like.scalar_type() && x.device() == like.device())
      << x.toString() << " " << x.sizes() << " with strides " << x.strides() << " beside " << like.toString()
      << " " << like.sizes();
  LOCKSTEP_CHECK(y.sizes() == x.sizes() && y.stride(-1) == 1 && y.scalar_type() == x.scalar_type() &&
                 y.device() == x.device())
      << y.toString() << " " << y.sizes() << " for " << x.toString() << " " << x.sizes();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("rotary_(Tensor(a!)[] y, Tensor[] x, Tensor cos, Tensor sin, bool inverse) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("rotary_", &rotary_cpu); }

void rotary(at::TensorList y, at::TensorList x, const at::Tensor& cos, const at::Tensor& sin, bool inverse) {
  LOCKSTEP_CHECK(y.size() == 3 && x.size() == 3) << y.size() << " and " << x.size() << " tensors";
  for (size_t i = 0; i < 3; ++i) check(y[i], x[i], x[0]);
  for (const at::Tensor* t : {&cos, &sin}) {
    LOCKSTEP_CHECK(t->is_contiguous() && t->scalar_type() == x[0].scalar_type() &&
                   t->device() == x[0].device() && t->dim() == 4 &&
                   (t->size(0) == 1 || t->size(0) == x[0].size(0)) && t->size(1) == 1 &&
                   t->size(2) == x[0].size(2) && t->size(3) * 2 == x[0].size(3))
        << t->toString() << " " << t->sizes() << " for " << x[0].toString() << " " << x[0].sizes();
  }
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::rotary_", "").typed<decltype(rotary_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  op.call(y, x, cos, sin, inverse);
}

}  // namespace lockstep::kernels
