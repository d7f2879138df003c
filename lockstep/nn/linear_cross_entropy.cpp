#include "lockstep/nn/linear_cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "lockstep/base/check.h"
#include "lockstep/kernels/product.h"
#include "lockstep/kernels/scaled.h"
#include "lockstep/kernels/softmax_loss.h"
#include "lockstep/nn/gradient_home.h"
#include "lockstep/nn/to_device.h"

namespace lockstep::nn {
namespace {

using kernels::product;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LinearCrossEntropy : public torch::autograd::Function<LinearCrossEntropy> {
 public:
  // hidden: [N, D], every target trained.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                            const at::Tensor& targets, int64_t chunk_tokens, bool hidden_needs_grad,
                            bool weight_needs_grad) {
    const auto wide = hidden.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const bool with_gradient = hidden_needs_grad || weight_needs_grad;
    at::Tensor loss = at::zeros({}, hidden.options().dtype(wide));
    at::Tensor hidden_grad = hidden_needs_grad ? at::empty_like(hidden) : at::Tensor();
    // Summed over chunks in the wide dtype: bf16 sums would lose the small contributions.
    at::Tensor weight_grad;
    if (weight_needs_grad) {
      const auto options = weight.options().dtype(wide);
      weight_grad =
          hidden.size(0) > 0 ? at::empty(weight.sizes(), options) : at::zeros(weight.sizes(), options);
    }

    for (int64_t start = 0; start < hidden.size(0); start += chunk_tokens) {
      const int64_t count = std::min(chunk_tokens, hidden.size(0) - start);
      const bool recurs = count == chunk_tokens;         // what is left behind whole chunks is of any size
      const auto rows = hidden.narrow(0, start, count);  // [C, D]
      const auto logits = at::empty({count, weight.size(0)}, hidden.options());  // [C, V]
      product(logits, {rows}, {weight, /*transposed=*/true}, {.recurs = recurs});
      // From here on `logits` holds their gradient.
      loss += kernels::softmax_loss(logits, targets.narrow(0, start, count), with_gradient).sum();
      if (hidden_needs_grad) {
        product(hidden_grad.narrow(0, start, count), {logits}, {weight}, {.recurs = recurs});
      }
      if (weight_needs_grad) {
        product(weight_grad, {logits, /*transposed=*/true}, {rows},
                {.accumulate = start > 0, .recurs = recurs});
      }
    }
    context->save_for_backward({hidden_grad, weight_grad, weight});
    return loss;
  }

  static variable_list backward(AutogradContext* context, variable_list loss_grad) {
    const auto saved = context->get_saved_variables();
    const auto& [hidden_grad, weight_grad, weight] = std::tie(saved[0], saved[1], saved[2]);
    variable_list grads(6);
    if (hidden_grad.defined())
      kernels::scaled(grads[0] = at::empty_like(hidden_grad), hidden_grad, loss_grad[0]);
    if (weight_grad.defined()) kernels::scaled(grads[1] = new_gradient(weight), weight_grad, loss_grad[0]);
    return grads;
  }
};

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As few chunks of N tokens as `logits` allows, and as equal as whole tiles of the products make them: each
// costs a pass over the weight's gradient, and a small one more than its share.
int64_t tokens_per_chunk(int64_t tokens, int64_t logits, int64_t vocab) {
  constexpr int64_t kTile = 128;
  const int64_t most = std::max<int64_t>(1, logits / vocab);
  if (tokens <= most) return std::max<int64_t>(1, tokens);
  if (most < kTile) return most;
  const int64_t even = divided_up(tokens, divided_up(tokens, most / kTile * kTile));
  return divided_up(even, kTile) * kTile;
}

}  // namespace

int64_t default_logits_per_chunk(const at::Tensor& hidden) {
  return hidden.is_cuda() ? int64_t{5} << 27 : int64_t{1} << 25;
}

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                std::optional<int64_t> logits_per_chunk) {
  LOCKSTEP_CHECK(hidden.dim() == 2 && targets.dim() == 1 && hidden.size(0) == targets.size(0))
      << "hidden " << hidden.sizes() << ", targets " << targets.sizes();
  const auto trained = targets.ne(kUntrainedTarget).nonzero().squeeze(-1);
  const auto device = hidden.device();
  const auto rows = hidden.index_select(0, to_device(trained, device));
  const auto kept_targets = to_device(targets.index_select(0, trained), device);
  // Of all tokens, however many of them are trained, so that the products' shapes recur.
  const int64_t chunk_tokens = tokens_per_chunk(
      hidden.size(0), logits_per_chunk.value_or(default_logits_per_chunk(hidden)), weight.size(0));
  const bool recording = at::GradMode::is_enabled();
  return LinearCrossEntropy::apply(rows, weight, kept_targets, chunk_tokens,
                                   recording && rows.requires_grad(), recording && weight.requires_grad());
}

}  // namespace lockstep::nn
