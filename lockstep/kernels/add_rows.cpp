#include "lockstep/kernels/add_rows.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/sort.h>
#include <torch/library.h>

#include <algorithm>
#include <vector>

#include "lockstep/base/check.h"

namespace lockstep::kernels {
namespace {

// rows: [N], the indices in ascending order; order: [N], where each stood.
void add_rows_cpu(at::Tensor& out, const at::Tensor& rows, const at::Tensor& order, const at::Tensor& x) {
  const int64_t width = out.size(1);
  const auto row = rows.accessor<int64_t, 1>(), from = order.accessor<int64_t, 1>();
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, out.scalar_type(), "add_rows", [&] {
    using Wide = at::opmath_type<scalar_t>;
    std::vector<Wide> sum(static_cast<size_t>(width));
    for (int64_t n = 0; n < rows.size(0);) {
      const int64_t first = n;
      std::fill(sum.begin(), sum.end(), Wide(0));
      for (; n < rows.size(0) && row[n] == row[first]; ++n) {
        const scalar_t* added = x.const_data_ptr<scalar_t>() + from[n] * width;
        for (int64_t i = 0; i < width; ++i) sum[static_cast<size_t>(i)] += static_cast<Wide>(added[i]);
      }
      scalar_t* to = out.mutable_data_ptr<scalar_t>() + row[first] * width;
      for (int64_t i = 0; i < width; ++i) to[i] += static_cast<scalar_t>(sum[static_cast<size_t>(i)]);
    }
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("add_rows_(Tensor(a!) out, Tensor rows, Tensor order, Tensor x) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("add_rows_", &add_rows_cpu); }

void add_rows(at::Tensor out, const at::Tensor& indices, const at::Tensor& x) {
  LOCKSTEP_CHECK(out.dim() == 2 && out.is_contiguous() && x.dim() == 2 && x.is_contiguous() &&
                 x.size(1) == out.size(1) && x.scalar_type() == out.scalar_type() &&
                 x.device() == out.device())
      << x.toString() << " " << x.sizes() << " to be added to " << out.toString() << " " << out.sizes();
  LOCKSTEP_CHECK(indices.dim() == 1 && indices.size(0) == x.size(0) && indices.scalar_type() == at::kLong &&
                 indices.device() == out.device())
      << indices.toString() << " " << indices.sizes() << " for " << x.sizes();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const auto [rows, order] = at::sort(indices, /*stable=*/true, /*dim=*/0, /*descending=*/false);
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::add_rows_", "")
                             .typed<decltype(add_rows_cpu)>();
  op.call(out, rows, order, x);
}

}  // namespace lockstep::kernels
