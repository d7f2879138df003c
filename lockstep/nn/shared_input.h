// Several linear layers of one input, such as the projections to queries, keys and values.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "lockstep/nn/layers.h"
#include "lockstep/nn/linears.h"

namespace lockstep::nn {

// What each layer makes of x (nn/linears.h), within the hooks of all of them; all have a bias or none has.
std::vector<at::Tensor> linear_each(const at::Tensor& x, const std::vector<Linear>& layers,
                                    const std::optional<MadeAgain>& again = std::nullopt);

}  // namespace lockstep::nn
