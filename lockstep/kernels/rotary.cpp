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

void rotary_cpu(at::Tensor& y, const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                bool inverse) {
  const int64_t half = x.size(-1) / 2;
  const auto first = widened(x.narrow(-1, 0, half)), second = widened(x.narrow(-1, half, half));
  const auto c = widened(cos), s = inverse ? -widened(sin) : widened(sin);
  y.copy_(at::cat({first * c - second * s, second * c + first * s}, -1));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("rotary_(Tensor(a!) y, Tensor x, Tensor cos, Tensor sin, bool inverse) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("rotary_", &rotary_cpu); }

void rotary(at::Tensor y, const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, bool inverse) {
  LOCKSTEP_CHECK(x.dim() == 4 && x.size(-1) % 2 == 0 && x.stride(-1) == 1)
      << x.toString() << " " << x.sizes() << " with strides " << x.strides();
  LOCKSTEP_CHECK(y.sizes() == x.sizes() && y.stride(-1) == 1 && y.scalar_type() == x.scalar_type() &&
                 y.device() == x.device())
      << y.toString() << " " << y.sizes() << " for " << x.toString() << " " << x.sizes();
  for (const at::Tensor* t : {&cos, &sin}) {
    LOCKSTEP_CHECK(t->is_contiguous() && t->scalar_type() == x.scalar_type() && t->device() == x.device() &&
                   t->dim() == 4 && (t->size(0) == 1 || t->size(0) == x.size(0)) && t->size(1) == 1 &&
                   t->size(2) == x.size(2) && t->size(3) * 2 == x.size(3))
        << t->toString() << " " << t->sizes() << " for " << x.toString() << " " << x.sizes();
  }
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::rotary_", "").typed<decltype(rotary_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  op.call(y, x, cos, sin, inverse);
}

}  // namespace lockstep::kernels
