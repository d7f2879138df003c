// silu(gate) * up, the activation of a gated MLP (kernels/swiglu.h).
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::nn {

// gate, up: of one shape, contiguous. Keeps these two for the backward pass and nothing else; the
// gradient works the activation out again. First derivatives only.
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

}  // namespace lockstep::nn
