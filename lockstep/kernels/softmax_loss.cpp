#include "lockstep/kernels/softmax_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/wide.h"

namespace lockstep::kernels {
namespace {

at::Tensor softmax_loss_cpu(at::Tensor& logits, const at::Tensor& targets, bool gradient) {
  const auto target = targets.unsqueeze(-1);
  const auto log_probability = widened(logits).log_softmax(-1);
  const auto loss = -log_probability.gather(-1, target).squeeze(-1);
  if (gradient) {
    const auto minus_one = -at::ones(target.sizes(), log_probability.options());
    logits.copy_(log_probability.exp_().scatter_add_(-1, target, minus_one));
  }
  return loss;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(lockstep, library) {
  library.def("softmax_loss_(Tensor(a!) logits, Tensor targets, bool gradient) -> Tensor");
}
TORCH_LIBRARY_IMPL(lockstep, CPU, library) { library.impl("softmax_loss_", &softmax_loss_cpu); }

at::Tensor softmax_loss(at::Tensor logits, const at::Tensor& targets, bool gradient) {
  LOCKSTEP_CHECK(logits.dim() == 2 && logits.is_contiguous())
      << logits.toString() << " " << logits.sizes() << " with strides " << logits.strides();
  LOCKSTEP_CHECK(targets.dim() == 1 && targets.is_contiguous() && targets.scalar_type() == at::kLong &&
                 targets.size(0) == logits.size(0) && targets.device() == logits.device())
      << targets.toString() << " " << targets.sizes() << " for " << logits.toString() << " "
      << logits.sizes();
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("lockstep::softmax_loss_", "")
                             .typed<decltype(softmax_loss_cpu)>();
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  return op.call(logits, targets, gradient);
}

}  // namespace lockstep::kernels
