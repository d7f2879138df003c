#include "lockstep/kernels/adamw.h"

#include <ATen/TensorIterator.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/library.h>

#include <cmath>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

// What does not depend on the element: worked out in float64, rounded once to the type that is computed in.
template <typename T>
struct Factors {
  explicit Factors(const AdamWScalars& s)
      : decay(T(1 - s.lr * s.weight_decay)),
        one_minus_beta1(T(1 - s.beta1)),
        beta2(T(s.beta2)),
        one_minus_beta2(T(1 - s.beta2)),
        step_size(T(s.lr / (1 - std::pow(s.beta1, s.step)))),
        sqrt_bias2(T(std::sqrt(1 - std::pow(s.beta2, s.step)))),
        eps(T(s.eps)),
        grad_scale(T(s.grad_scale)) {}
  T decay, one_minus_beta1, beta2, one_minus_beta2, step_size, sqrt_bias2, eps, grad_scale;
};

// S: what is stored, T: what is computed in.
template <typename S, typename T>
void update(S* __restrict p, S* __restrict m, S* __restrict v, const T* __restrict g, int64_t n,
            Factors<T> f) {
  for (int64_t i = 0; i < n; ++i) {
    const T scaled = g[i] * f.grad_scale;
    const T old_m = T(m[i]);
    const T new_m = old_m + f.one_minus_beta1 * (scaled - old_m);
    const T new_v = f.beta2 * T(v[i]) + f.one_minus_beta2 * (scaled * scaled);
    m[i] = S(new_m);
    v[i] = S(new_v);
    p[i] = S(T(p[i]) * f.decay - f.step_size * (new_m / (std::sqrt(new_v) / f.sqrt_bias2 + f.eps)));
  }
}

// TensorIterator rather than at::parallel_for: the latter is a template that runs serially
// unless this file is compiled with the OpenMP of torch's own build.
template <typename S, typename T>
void update_in_parallel(at::TensorIterator& iterator, const AdamWScalars& scalars) {
  const Factors<T> factors(scalars);
  // Contiguous operands are taken as one dimension: one row of n elements a call.
  iterator.for_each([&](char** data, const int64_t* strides, int64_t n, int64_t rows) {
    LOCKSTEP_CHECK(rows == 1 && (n == 1 || strides[0] == int64_t{sizeof(S)}))
        << rows << " rows, stride " << strides[0];
    update(reinterpret_cast<S*>(data[0]), reinterpret_cast<S*>(data[1]), reinterpret_cast<S*>(data[2]),
           reinterpret_cast<const T*>(data[3]), n, factors);
  });
}

void adamw_cpu(at::Tensor& p, at::Tensor& m, at::Tensor& v, const at::Tensor& g, double lr, double beta1,
               double beta2, double eps, double weight_decay, int64_t step, double grad_scale,
               const std::optional<at::Tensor>& copy) {
  const at::Tensor wide = g.to(wide_type(p.scalar_type()));
  auto iterator = at::TensorIteratorConfig()
                      .add_output(p)
                      .add_output(m)
                      .add_output(v)
                      .add_const_input(wide)
                      .resize_outputs(false)
                      .check_all_same_dtype(false)
                      .build();
  const AdamWScalars scalars{lr, beta1, beta2, eps, weight_decay, step, grad_scale};
  switch (p.scalar_type()) {
    case at::kDouble:
      update_in_parallel<double, double>(iterator, scalars);
      break;
    case at::kFloat:
      update_in_parallel<float, float>(iterator, scalars);
      break;
    default:
      update_in_parallel<c10::BFloat16, float>(iterator, scalars);
  }
  if (copy) copy->copy_(p);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def(
      "adamw_(Tensor(a!) p, Tensor(b!) m, Tensor(c!) v, Tensor g, float lr, float beta1, float beta2, float "
      "eps, "
      "float weight_decay, int step, float grad_scale, Tensor(d!)? copy) -> ()");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("adamw_", &adamw_cpu); }

void adamw(at::Tensor p, at::Tensor m, at::Tensor v, const at::Tensor& g, const AdamWScalars& scalars,
           const at::Tensor& copy) {
  LOCKSTEP_CHECK(scalars.step >= 1) << "step " << scalars.step;
  const auto stored = p.scalar_type();
  LOCKSTEP_CHECK(stored == at::kDouble || stored == at::kFloat || stored == at::kBFloat16) << stored;
  for (const at::Tensor* t : {&std::as_const(p), &std::as_const(m), &std::as_const(v), &g}) {
    const bool is_gradient =
        t == &g && (g.scalar_type() == at::kBFloat16 || g.scalar_type() == wide_type(stored));
    const bool right_type = t->scalar_type() == stored || is_gradient;
    LOCKSTEP_CHECK(t->is_contiguous() && t->sizes() == p.sizes() && right_type && t->device() == p.device())
        << t->toString() << " of " << t->numel() << " elements beside p: " << p.toString() << " of "
        << p.numel();
  }
  LOCKSTEP_CHECK(!copy.defined() || (copy.is_contiguous() && copy.sizes() == p.sizes() &&
                                     copy.scalar_type() == at::kBFloat16 && copy.device() == p.device()))
      << "copy: " << copy.toString() << " " << copy.sizes();
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("lockstep::adamw_", "").typed<decltype(adamw_cpu)>();
  const at::NoGradGuard no_grad;
  op.call(p, m, v, g, scalars.lr, scalars.beta1, scalars.beta2, scalars.eps, scalars.weight_decay,
          scalars.step, scalars.grad_scale, copy.defined() ? std::optional(copy) : std::nullopt);
  // An operator of one's own writes past autograd's bookkeeping.
  p.unsafeGetTensorImpl()->bump_version();
}

}  // namespace lockstep::kernels
