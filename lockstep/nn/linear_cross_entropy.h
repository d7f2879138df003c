// The language model's last step in one: head, softmax and loss, without ever holding all logits.
//
// N tokens, D width, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::nn {

constexpr int64_t kUntrainedTarget = -100;
// Logits held at a time, in elements; 256 MiB in float32.
constexpr int64_t kLogitsPerChunk = int64_t{1} << 26;

// Sum over n with targets[n] != -100 of -log softmax(hidden[n] weight^T)[targets[n]].
//
// hidden: [N, D]; weight: [V, D], same dtype; targets: [N] int64 (on the CPU they cost no wait for the
// device). Returns a scalar float32, or float64 for float64. Logits are computed in hidden's dtype, for
// trained tokens alone, in chunks of at most `logits_per_chunk` elements; softmax and sums in the
// dtype of the result. Where gradients are asked for they are computed chunk by chunk in the forward
// pass (the logits are then never needed again); backward scales them. So it costs one
// pair of matrix products more than nothing at all, and memory for the weight's gradient from here on.
// First derivatives only.
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                int64_t logits_per_chunk = kLogitsPerChunk);

}  // namespace lockstep::nn
