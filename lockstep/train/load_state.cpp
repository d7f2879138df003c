#include "lockstep/train/load_state.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "lockstep/checkpoint/fetch_state.h"

namespace lockstep::train {

void load_state(storage::ObjectStore& store, const checkpoint::Manifest& manifest, TrainingState& state) {
  const at::NoGradGuard no_grad;
  const std::vector<StateSlice> slices = state.all();
  std::vector<at::Tensor> on_host;
  std::vector<checkpoint::Target> targets;
  for (const StateSlice& slice : slices) {
    // A view of the shard itself where the host can write to it.
    on_host.push_back(slice.values.is_cpu()
                          ? slice.values
                          : at::empty(slice.values.sizes(), slice.values.options().device(at::kCPU)));
    targets.push_back({slice.slice,
                       {static_cast<std::byte*>(on_host.back().mutable_data_ptr()),
                        static_cast<size_t>(slice.slice.num_bytes())}});
  }
  checkpoint::fetch_state(store, manifest, targets);
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!slices[i].values.is_cpu()) slices[i].values.copy_(on_host[i]);
    // Gathered copies are told by the version counter that the values have changed.
    slices[i].values.unsafeGetTensorImpl()->bump_version();
  }
  state.set_updates(manifest.state.at("updates"));
}

}  // namespace lockstep::train
