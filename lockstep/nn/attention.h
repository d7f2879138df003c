// Causal grouped-query attention over packed rows.
//
// B rows, T query tokens, S key tokens, H query heads, G key-value heads (H a multiple of G), Dh channels.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::nn {

// Who may look at whom; made once a forward and shared by all layers.
struct AttentionMask {
  // t looks at s <= t. Only with T == S.
  bool causal = false;
  // [B, 1, T, S], added to the scores: 0 or -inf, in the dtype of the queries. Undefined: nothing added.
  at::Tensor bias;
  // [documents + 1] int32 on the device: where each document begins among the B * T tokens, and B * T. Tokens
  // look at those before them in their document. Undefined: `bias` says it, or each row is one document.
  at::Tensor first_tokens;
  int64_t longest = 0;  // tokens of a document

  // Every query looks at every key: the newest token over a cache.
  static AttentionMask none() { return {}; }
  // One document a row.
  static AttentionMask causal_rows() { return {.causal = true}; }
  // Token t looks at s <= t of the same document. document_ids: [B, T], rising along a row, -1 for
  // padding (padding looks at padding alone, so that its rows stay finite). Rows of one document
  // need no bias: where every row is one document, padded at its end or not, the mask is causal_rows().
  // For heads of `head_dim` channels in the dtype and on the device of `x`: with first_tokens where a kernel
  // takes them (kernels/fused_attention.h), whose work and memory grow with the documents' tokens, else with
  // a bias, B * T * T elements. Ids on the CPU are looked at without waiting for the device; ids on a GPU
  // cost a synchronization.
  static AttentionMask documents(const at::Tensor& document_ids, const at::Tensor& x, int64_t head_dim);
};

// softmax(q k^T / sqrt(Dh) + mask) v. query: [B, H, T, Dh]; key, value: [B, G, S, Dh]; returns
// [B, H, T, Dh]. On a GPU causal attention in bf16 or f16 is cuDNN's where it takes the operands
// (kernels/fused_attention.h; why not is logged once), else at::scaled_dot_product_attention's, which picks
// a fused kernel where the device has one.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const AttentionMask& mask);

}  // namespace lockstep::nn
