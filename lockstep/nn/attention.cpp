#include "lockstep/nn/attention.h"

#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/all.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/base/log.h"
#include "lockstep/kernels/fused_attention.h"
#include "lockstep/nn/to_device.h"

namespace lockstep::nn {
namespace {

// Each id is the row's first one, or padding. Padding at the end is looked at by nobody, since
// looking goes backwards; a row that starts with padding never matches its documents.
bool one_document_a_row(const at::Tensor& ids) {
  const auto first = ids.narrow(1, 0, 1);
  return ids.eq(first).logical_or(ids.eq(-1)).all().item<bool>();
}

// [B, G, S, Dh] -> [B, H, S, Dh], each head repeated for its group of queries.
at::Tensor repeat_heads(const at::Tensor& x, int64_t heads) {
  if (x.size(1) == heads) return x;
  const int64_t group = heads / x.size(1);
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), group, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

// Padding is a document too: its rows stay finite, and nobody else looks at it.
AttentionMask by_first_tokens(const at::Tensor& document_ids, at::Device device) {
  const auto ids = document_ids.to(at::kCPU, at::kInt).contiguous();
  const int64_t rows = ids.size(0), tokens = ids.size(1);
  const int* id = ids.const_data_ptr<int>();
  std::vector<int> firsts;
  for (int64_t i = 0; i < rows * tokens; ++i)
    if (i % tokens == 0 || id[i] != id[i - 1]) firsts.push_back(static_cast<int>(i));
  firsts.push_back(static_cast<int>(rows * tokens));
  int longest = 0;
  for (size_t i = 1; i < firsts.size(); ++i) longest = std::max(longest, firsts[i] - firsts[i - 1]);
  AttentionMask mask;
  mask.first_tokens = to_device(at::tensor(firsts, at::kInt), device);
  mask.longest = longest;
  return mask;
}

at::Tensor attention_of_documents(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                  const AttentionMask& mask) {
  // [B, heads, T, Dh] -> [B * T, heads, Dh], a view where memory is in the order of products.
  const auto in_line = [](const at::Tensor& x) { return x.transpose(1, 2).flatten(0, 1); };
  const auto out = std::get<0>(at::_flash_attention_forward(
      in_line(query), in_line(key), in_line(value), mask.first_tokens, mask.first_tokens, mask.longest,
      mask.longest, /*dropout_p=*/0.0, /*is_causal=*/true, /*return_debug_mask=*/false));
  return out.unflatten(0, {query.size(0), query.size(2)}).transpose(1, 2);
}

bool is_half(const at::Tensor& x) { return x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf; }

// A refusal is logged once, since it decides how fast training is.
bool cudnn_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const std::string refusal = kernels::cudnn_attention_refusal(query, key, value);
  if (refusal.empty()) return true;
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(refusal).second) {
    log::info("attention over {} tokens takes torch's own kernel rather than cuDNN's: {}", query.size(2),
              refusal);
  }
  return false;
}

}  // namespace

AttentionMask AttentionMask::documents(const at::Tensor& document_ids, const at::Tensor& x,
                                       int64_t head_dim) {
  LOCKSTEP_CHECK(document_ids.dim() == 2) << "document_ids must be [B, T]";
  if (one_document_a_row(document_ids)) return causal_rows();
  if (kernels::flash_takes_documents(x, head_dim)) return by_first_tokens(document_ids, x.device());
  const auto dtype = x.scalar_type();
  const int64_t tokens = document_ids.size(1);
  const auto ids = to_device(document_ids, x.device());
  const auto earlier = at::ones({tokens, tokens}, ids.options().dtype(at::kBool)).tril();
  const auto visible = ids.unsqueeze(2).eq(ids.unsqueeze(1)).logical_and(earlier).unsqueeze(1);
  const auto bias = at::zeros(visible.sizes(), visible.options().dtype(dtype))
                        .masked_fill_(visible.logical_not(), -std::numeric_limits<double>::infinity());
  return {.bias = bias};
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const AttentionMask& mask) {
  LOCKSTEP_CHECK(query.size(1) % key.size(1) == 0)
      << query.size(1) << " query heads, " << key.size(1) << " key-value heads";
  if (mask.first_tokens.defined()) return attention_of_documents(query, key, value, mask);
  const std::optional<at::Tensor> bias =
      mask.bias.defined() ? std::optional<at::Tensor>(mask.bias) : std::nullopt;
  // Causal alone: over a cache that grows cuDNN would plan anew for every token.
  if (query.is_cuda() && mask.causal && !bias && is_half(query) && cudnn_takes(query, key, value)) {
    const bool for_backward = at::GradMode::is_enabled();
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(query, key, value, /*attn_bias=*/std::nullopt,
                                                               /*compute_log_sumexp=*/for_backward,
                                                               /*dropout_p=*/0.0, /*is_causal=*/true));
  }
  // The fused kernels that take a bias, and those of the CPU, want as many key heads as query heads; with
  // enable_gqa they would fall back to holding all T x S scores.
  const bool grouped = query.is_cuda() && !bias.has_value();
  const int64_t heads = query.size(1);
  return at::scaled_dot_product_attention(query, grouped ? key : repeat_heads(key, heads),
                                          grouped ? value : repeat_heads(value, heads), bias,
                                          /*dropout_p=*/0.0, mask.causal, /*scale=*/std::nullopt,
                                          /*enable_gqa=*/grouped);
}

}  // namespace lockstep::nn
