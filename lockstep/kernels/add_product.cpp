#include "lockstep/kernels/add_product.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

void add_product_cpu(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  sum.addmm_(widened(a).t(), widened(b));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("add_product_(Tensor(a!) sum, Tensor a, Tensor b) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("add_product_", &add_product_cpu); }

void add_product(at::Tensor sum, const at::Tensor& a, const at::Tensor& b) {
  LOCKSTEP_CHECK(a.dim() == 2 && b.dim() == 2 && sum.dim() == 2 && a.size(0) == b.size(0) &&
                 sum.size(0) == a.size(1) && sum.size(1) == b.size(1))
      << sum.sizes() << " += " << a.sizes() << "^T " << b.sizes();
  LOCKSTEP_CHECK(a.is_contiguous() && b.is_contiguous() && sum.is_contiguous());
  LOCKSTEP_CHECK(a.scalar_type() == b.scalar_type() && sum.scalar_type() == wide_type(a.scalar_type()) &&
                 a.device() == b.device() && sum.device() == a.device())
      << sum.toString() << " += " << a.toString() << "^T " << b.toString();
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::add_product_", "")
                             .typed<decltype(add_product_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  op.call(sum, a, b);
}

}  // namespace lockstep::kernels
