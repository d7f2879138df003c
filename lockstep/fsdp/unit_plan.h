// Which parameters go to which unit.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "lockstep/fsdp/wrap_policy.h"

namespace lockstep::fsdp {

struct PlannedParameter {
  std::string name;
  at::Tensor tensor;
};

struct PlannedUnit {
  std::string name;  // path of the module from the root; "" is the root
  torch::nn::Module* module = nullptr;
  std::vector<PlannedParameter> parameters;
};

// The root first, then the others in the order in which they are registered. Each parameter
// of the root is in exactly one: in the innermost unit around all modules that use it.
std::vector<PlannedUnit> plan_units(torch::nn::Module& root, const WrapPolicy& policy);

}  // namespace lockstep::fsdp
