// Rotary position embedding (Su et al., 2021), in the half-split layout of Hugging Face's Llama and
// Qwen2: channel i turns together with channel i + Dh/2.
//
// B rows, T tokens, H query heads, G key-value heads, Dh channels a head.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::nn {

// Cosine and sine of the angle positions[b, t] * theta^(-2i / Dh), one table for all layers.
struct RotaryTable {
  at::Tensor cos;  // [B, 1, T, Dh/2]
  at::Tensor sin;  // [B, 1, T, Dh/2]
};

// positions: [B, T] int64; they are the caller's, so that packed documents each start at 0. Angles are
// computed in float32, as the models were trained (float64 when `dtype` is), then rounded to `dtype`.
RotaryTable rotary_table(const at::Tensor& positions, int64_t head_dim, double theta, at::ScalarType dtype);

struct Heads {
  at::Tensor query;       // [B, H, T, Dh]
  at::Tensor key, value;  // [B, G, T, Dh]
};

// Queries and keys turned, values copied. query: [B, T, H * Dh], key, value: [B, T, G * Dh], their last
// dims dense. Results lie in memory as [B, T, heads, Dh], each by itself; gradients are columns of one tensor
// where the arguments are (kernels/side_by_side.h), which the layers that made them want (nn/linears.h).
Heads rotary_heads(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                   const RotaryTable& table, int64_t head_dim);

}  // namespace lockstep::nn
