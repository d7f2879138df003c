// Gives a module that was described on the meta device its values.
#pragma once

#include <torch/nn/module.h>

#include "lockstep/nn/module.h"

namespace lockstep::nn {

// Makes `parameter` hold `data`'s memory, whatever device it was on. Every handle to the parameter sees it:
// Tensor::set_data alone refuses to leave the meta device.
void set_parameter_data(const at::Tensor& parameter, const at::Tensor& data);

// Fills every parameter of `root` from `source`, in the dtype and on the device of `options`. Tied
// parameters are read once and stay one. Whole: for models that fit on one device and are not sharded.
void materialize(torch::nn::Module& root, WeightSource& source, const at::TensorOptions& options);

}  // namespace lockstep::nn
