#include "lockstep/kernels/product.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/product_by_torch.h"

namespace lockstep::kernels {
namespace {

at::Tensor op_of(const at::Tensor& values, bool transposed) { return transposed ? values.t() : values; }

void product_cpu(at::Tensor& out, const at::Tensor& a, bool a_transposed, const at::Tensor& b,
                 bool b_transposed, bool accumulate, const std::optional<at::Tensor>& bias,
                 const std::optional<at::Tensor>& row_sums, bool /*recurs*/) {
  product_by_torch(out, op_of(a, a_transposed), op_of(b, b_transposed), accumulate, bias, row_sums);
}

void check(const at::Tensor& out, const Operand& a, const Operand& b, const ProductOptions& options) {
  for (const at::Tensor* x : {&out, &a.values, &b.values}) {
    LOCKSTEP_CHECK(x->dim() == 2 && x->is_contiguous() && x->device() == out.device())
        << x->toString() << " " << x->sizes() << " strides " << x->strides();
  }
  const at::Tensor left = op_of(a.values, a.transposed), right = op_of(b.values, b.transposed);
  LOCKSTEP_CHECK(left.size(1) == right.size(0) && out.size(0) == left.size(0) && out.size(1) == right.size(1))
      << out.sizes() << " = " << left.sizes() << " times " << right.sizes();
  const auto type = a.values.scalar_type();
  LOCKSTEP_CHECK(b.values.scalar_type() == type &&
                 (out.scalar_type() == type || (out.scalar_type() == at::kFloat && type == at::kBFloat16)))
      << out.toString() << " = " << a.values.toString() << " times " << b.values.toString();
  const auto check_vector = [&](const char* name, const std::optional<at::Tensor>& x, int64_t size,
                                bool may) {
    LOCKSTEP_CHECK(!x ||
                   (may && !options.accumulate && x->is_contiguous() && x->sizes() == at::IntArrayRef{size} &&
                    x->scalar_type() == out.scalar_type() && x->device() == out.device()))
        << name << " " << x->toString() << " " << x->sizes() << " for " << out.sizes();
  };
  check_vector("bias", options.bias, out.size(1), /*may=*/true);
  check_vector("row_sums", options.row_sums, out.size(0), /*may=*/!options.bias);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def(
      "product_(Tensor(a!) out, Tensor a, bool a_transposed, Tensor b, bool b_transposed, bool accumulate, "
      "Tensor? bias, Tensor? row_sums, bool recurs) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("product_", &product_cpu); }

void product(at::Tensor out, const Operand& a, const Operand& b, const ProductOptions& options) {
  check(out, a, b, options);
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::product_", "").typed<decltype(product_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  op.call(out, a.values, a.transposed, b.values, b.transposed, options.accumulate, options.bias,
          options.row_sums, options.recurs);
}

}  // namespace lockstep::kernels
