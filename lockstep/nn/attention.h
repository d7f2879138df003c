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

  // Every query looks at every key: the newest token over a cache.
  static AttentionMask none() { return {}; }
  // One document a row.
  static AttentionMask causal_rows() { return {.causal = true}; }
  // Token t looks at s <= t of the same document. document_ids: [B, T], rising along a row, -1 for
  // padding (padding looks at padding alone, so that its rows stay finite). Rows of one document
  // need no bias: where every row is one document, padded at its end or not, the mask is causal_rows().
  // Ids on the CPU are looked at without waiting for the device; ids on a GPU cost a synchronization.
  static AttentionMask documents(const at::Tensor& document_ids, at::ScalarType dtype, at::Device device);
};

// softmax(q k^T / sqrt(Dh) + mask) v. query: [B, H, T, Dh]; key, value: [B, G, S, Dh]; returns
// [B, H, T, Dh]. On a GPU causal attention in bf16 or f16 is cuDNN's where it takes the operands
// (kernels/cudnn_attention.h; why not is logged once), else at::scaled_dot_product_attention's, which picks
// a fused kernel where the device has one.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const AttentionMask& mask);

}  // namespace lockstep::nn
