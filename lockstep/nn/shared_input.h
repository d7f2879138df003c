// Several linear layers of one input, such as the projections to queries, keys and values.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/nn/layers.h"

namespace lockstep::nn {

// x W_i^T + b_i for each layer, [..., in] -> [..., out_i], within the hooks of all of them; all have a bias
// or none has. Called one by one, the layers would leave autograd to hold their gradients of x and add
// them up; here each product adds to the one before it, in the layers' order. First derivatives only.
std::vector<at::Tensor> linear_each(const at::Tensor& x, const std::vector<Linear>& layers);

}  // namespace lockstep::nn
