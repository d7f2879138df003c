// The language model's last step in one: head, softmax and loss, without ever holding all logits.
//
// N tokens, D width, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace lockstep::nn {

constexpr int64_t kUntrainedTarget = -100;

// Logits made at a time, in elements: 5 * 2^27 on a GPU, 1.25 GiB in bf16, since the weight's gradient is
// read and written once for each chunk; 2^25 on the CPU, 128 MiB in float32 and with their log-probabilities
// twice that.
int64_t default_logits_per_chunk(const at::Tensor& hidden);

// Sum over n with targets[n] != -100 of -log softmax(hidden[n] weight^T)[targets[n]].
//
// hidden: [N, D]; weight: [V, D], same dtype; targets: [N] int64 (on the CPU they cost no wait for the
// device). Returns a scalar float32, or float64 for float64. Logits are computed in hidden's dtype, for
// trained tokens alone, in chunks of at most `logits_per_chunk` elements, which their gradient replaces
// (kernels/softmax_loss.h); softmax and sums in the dtype of the result. Where gradients are asked for they
// are computed chunk by chunk in the forward pass, while the logits are at hand; backward only scales them.
// So nothing is computed twice, and the weight's gradient [V, D] lives from here to the backward pass. First
// derivatives only.
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                std::optional<int64_t> logits_per_chunk = std::nullopt);

}  // namespace lockstep::nn
