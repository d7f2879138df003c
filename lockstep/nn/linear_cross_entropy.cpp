#include "lockstep/nn/linear_cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "lockstep/base/check.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LinearCrossEntropy : public torch::autograd::Function<LinearCrossEntropy> {
 public:
  // hidden: [N, D], every target trained.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                            const at::Tensor& targets, int64_t chunk_tokens, bool hidden_needs_grad,
                            bool weight_needs_grad) {
    const auto wide = hidden.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    at::Tensor loss = at::zeros({}, hidden.options().dtype(wide));
    at::Tensor hidden_grad = hidden_needs_grad ? at::empty_like(hidden) : at::Tensor();
    // Summed over chunks in the wide dtype: bf16 sums would lose the small contributions.
    at::Tensor weight_grad =
        weight_needs_grad ? at::zeros(weight.sizes(), weight.options().dtype(wide)) : at::Tensor();

    for (int64_t start = 0; start < hidden.size(0); start += chunk_tokens) {
      const int64_t count = std::min(chunk_tokens, hidden.size(0) - start);
      const auto rows = hidden.narrow(0, start, count);                   // [C, D]
      const auto target = targets.narrow(0, start, count).unsqueeze(-1);  // [C, 1]
      const auto log_probability = at::linear(rows, weight).to(wide).log_softmax(-1);
      loss -= log_probability.gather(-1, target).sum();
      if (!hidden_needs_grad && !weight_needs_grad) continue;
      // d loss / d logits = softmax - one_hot(target)
      const auto logits_grad = log_probability.exp_()
                                   .scatter_add_(-1, target, -at::ones(target.sizes(), loss.options()))
                                   .to(hidden.scalar_type());
      if (hidden_needs_grad) hidden_grad.narrow(0, start, count).copy_(at::mm(logits_grad, weight));
      if (weight_needs_grad) weight_grad += at::mm(logits_grad.t(), rows);
    }
    context->save_for_backward({hidden_grad, weight_grad});
    context->saved_data["weight_dtype"] = static_cast<int64_t>(weight.scalar_type());
    return loss;
  }

  static variable_list backward(AutogradContext* context, variable_list loss_grad) {
    const auto saved = context->get_saved_variables();
    const auto& [hidden_grad, weight_grad] = std::tie(saved[0], saved[1]);
    const auto weight_dtype = static_cast<at::ScalarType>(context->saved_data["weight_dtype"].toInt());
    variable_list grads(6);
    if (hidden_grad.defined()) grads[0] = hidden_grad * loss_grad[0].to(hidden_grad.scalar_type());
    if (weight_grad.defined()) grads[1] = (weight_grad * loss_grad[0]).to(weight_dtype);
    return grads;
  }
};

}  // namespace

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                int64_t logits_per_chunk) {
  LOCKSTEP_CHECK(hidden.dim() == 2 && targets.dim() == 1 && hidden.size(0) == targets.size(0))
      << "hidden " << hidden.sizes() << ", targets " << targets.sizes();
  const auto trained = targets.ne(kUntrainedTarget).nonzero().squeeze(-1);
  const auto device = hidden.device();
  const auto rows = hidden.index_select(0, trained.to(device, /*non_blocking=*/true));
  const auto kept_targets = targets.index_select(0, trained).to(device, /*non_blocking=*/true);
  const int64_t chunk_tokens = std::max<int64_t>(1, logits_per_chunk / weight.size(0));
  const bool recording = at::GradMode::is_enabled();
  return LinearCrossEntropy::apply(rows, weight, kept_targets, chunk_tokens,
                                   recording && rows.requires_grad(), recording && weight.requires_grad());
}

}  // namespace lockstep::nn
