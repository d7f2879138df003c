#include "lockstep/kernels/scaled.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/mul.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

// With one dimension the factor is no "scalar", which torch would round to bf16 first.
void scaled_cpu(at::Tensor& out, const at::Tensor& x, const at::Tensor& factor) {
  at::mul_out(out, x, factor.expand({1}));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("scaled_(Tensor(a!) out, Tensor x, Tensor factor) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("scaled_", &scaled_cpu); }

void scaled(at::Tensor out, const at::Tensor& x, const at::Tensor& factor) {
  LOCKSTEP_CHECK(out.is_contiguous() && x.is_contiguous() && out.sizes() == x.sizes() &&
                 out.device() == x.device() && factor.device() == x.device() && factor.numel() == 1 &&
                 factor.scalar_type() == wide_type(x.scalar_type()) &&
                 (out.scalar_type() == x.scalar_type() ||
                  (out.scalar_type() == at::kBFloat16 && x.scalar_type() == at::kFloat)))
      << out.toString() << " " << out.sizes() << " = " << x.toString() << " " << x.sizes() << " times "
      << factor.toString();
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::scaled_", "").typed<decltype(scaled_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  op.call(out, x, factor);
}

}  // namespace lockstep::kernels
