#include "lockstep/kernels/square_sum.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <torch/library.h>

#include <array>
#include <atomic>
#include <cmath>

#include "lockstep/base/check.h"
#include "lockstep/kernels/square_digits.h"

namespace lockstep::kernels {
namespace {

// Several sums side by side, so that the compiler can use vector registers for them.
constexpr int kLanes = 16;

template <typename T>
std::array<int64_t, kSquareDigits> sum_row(const T* g, int64_t n, double scale) {
  int64_t d0[kLanes] = {}, d1[kLanes] = {}, d2[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      add_square(static_cast<double>(g[i + lane]) * scale, d0[lane], d1[lane], d2[lane]);
    }
  }
  for (; i < n; ++i) add_square(static_cast<double>(g[i]) * scale, d0[0], d1[0], d2[0]);
  std::array<int64_t, kSquareDigits> sums{};
  for (int lane = 0; lane < kLanes; ++lane) {
    sums[0] += d0[lane];
    sums[1] += d1[lane];
    sums[2] += d2[lane];
  }
  return sums;
}

void add_squares_cpu(at::Tensor& digits, const at::Tensor& g, double scale) {
  // TensorIterator rather than at::parallel_for, as in adamw.cpp.
  auto iterator = at::TensorIteratorConfig().add_const_input(g).build();
  std::array<std::atomic<int64_t>, kSquareDigits> sums{};
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, g.scalar_type(), "add_squares", [&] {
    iterator.for_each([&](char** data, const int64_t* strides, int64_t n, int64_t rows) {
      LOCKSTEP_CHECK(rows == 1 && (n == 1 || strides[0] == int64_t{sizeof(scalar_t)}))
          << rows << " rows, stride " << strides[0];
      const auto row = sum_row(reinterpret_cast<const scalar_t*>(data[0]), n, scale);
      for (int i = 0; i < kSquareDigits; ++i) sums[i] += row[i];
    });
  });
  auto* out = digits.mutable_data_ptr<int64_t>();
  for (int i = 0; i < kSquareDigits; ++i) out[i] += sums[i];
}

at::Tensor square_parts_cpu(const at::Tensor& g) {
  return at::linalg_vector_norm(g, 2, at::IntArrayRef{}, /*keepdim=*/false, at::kDouble).square().view({1});
}

void check(const at::Tensor& g) {
  LOCKSTEP_CHECK(g.is_contiguous() && (g.scalar_type() == at::kFloat || g.scalar_type() == at::kDouble ||
                                       g.scalar_type() == at::kBFloat16))
      << g.toString();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("square_parts(Tensor g) -> Tensor");
  library.def("add_squares_(Tensor(a!) digits, Tensor g, float scale) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) {
  library.impl("add_squares_", &add_squares_cpu);
  library.impl("square_parts", &square_parts_cpu);
}

void add_squares(at::Tensor digits, const at::Tensor& g, double scale) {
  LOCKSTEP_CHECK(digits.scalar_type() == at::kLong && digits.numel() == kSquareDigits &&
                 digits.device() == g.device())
      << digits.toString() << " of " << digits.numel() << " elements";
  check(g);
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::add_squares_", "")
                             .typed<decltype(add_squares_cpu)>();
  op.call(digits, g, scale);
}

at::Tensor square_parts(const at::Tensor& g) {
  check(g);
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::square_parts", "")
                             .typed<decltype(square_parts_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(g);
}

double square_sum(const at::Tensor& digits) {
  const auto* d = digits.const_data_ptr<int64_t>();
  double sum = 0;
  for (int i = kSquareDigits; i-- > 0;) sum = std::ldexp(sum + static_cast<double>(d[i]), -24);
  return sum;
}

}  // namespace lockstep::kernels
