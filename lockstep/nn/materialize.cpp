#include "lockstep/nn/materialize.h"

#include <ATen/ops/empty.h>

#include <unordered_set>

namespace lockstep::nn {

void set_parameter_data(const at::Tensor& parameter, const at::Tensor& data) {
  parameter.unsafeGetTensorImpl()->shallow_copy_from(data.getIntrusivePtr());
}

void materialize(torch::nn::Module& root, WeightSource& source, const at::TensorOptions& options) {
  std::unordered_set<const at::TensorImpl*> done;
  for (const auto& parameter : root.named_parameters()) {
    const at::Tensor& value = parameter.value();
    if (!done.insert(value.unsafeGetTensorImpl()).second) continue;
    const auto host = at::empty({value.numel()}, options.device(at::kCPU));
    source.read(parameter.key(), 0, host);
    set_parameter_data(value, host.view(value.sizes()).to(options.device()));
  }
}

}  // namespace lockstep::nn
