// Rotary position embedding (Su et al., 2021), in the half-split layout of Hugging Face's Llama and
// Qwen2: channel i turns together with channel i + Dh/2.
//
// B rows, T tokens, H heads, Dh channels a head.
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

// x: [B, H, T, Dh] -> the same, turned.
at::Tensor apply_rotary(const at::Tensor& x, const RotaryTable& table);

}  // namespace lockstep::nn
