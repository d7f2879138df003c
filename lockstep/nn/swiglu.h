// The second half of a gated MLP: y = silu(gate) * up (kernels/swiglu.h) and the product behind it.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/nn/layers.h"

namespace lockstep::nn {

// down(silu(gate) * up), within down's hooks. gate, up: [..., inner], laid out as kernels::swiglu takes them
// -> [..., out]. Keeps gate and up for the backward pass and nothing else: y, as large as they, is worked out
// again beside their gradients. First derivatives only.
at::Tensor swiglu_linear(const at::Tensor& gate, const at::Tensor& up, Linear& down);

}  // namespace lockstep::nn
