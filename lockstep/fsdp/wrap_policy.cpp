#include "lockstep/fsdp/wrap_policy.h"

#include <torch/nn/module.h>

#include <algorithm>

namespace lockstep::fsdp {

WrapPolicy wrap_by_size(int64_t min_parameters) {
  return [min_parameters](const WrapCandidate& candidate) {
    return candidate.num_parameters >= min_parameters && candidate.layer_parameters < min_parameters;
  };
}

WrapPolicy wrap_by_type(std::vector<std::string> type_names) {
  return [names = std::move(type_names)](const WrapCandidate& candidate) {
    return std::find(names.begin(), names.end(), type_name_of(candidate.module)) != names.end();
  };
}

std::string type_name_of(const torch::nn::Module& module) {
  std::string name = module.name();
  name = name.substr(name.rfind(':') + 1);  // npos + 1 is 0
  const std::string ending = "Impl";
  if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
    name.resize(name.size() - ending.size());
  }
  return name;
}

}  // namespace lockstep::fsdp
