// The handle on a sharded model:
//
//   auto model = fsdp::fully_shard(MyModel(...), mesh, options);
//   at::Tensor loss = model(input);            // gathers, computes, frees
//   loss.backward();                           // gathers, reduces, frees
//   model.clip_grad_norm(1.0);
//   optimizer.step();                          // an optimizer over model.parameters()
//
// model->parameters() lists gathered views, which optimizers refuse: use the handle's.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "lockstep/fsdp/sharded_module.h"
#include "lockstep/nn/module.h"

namespace lockstep::fsdp {

template <typename Holder>
class Sharded {
 public:
  Sharded(Holder module, comm::Mesh& mesh, FsdpOptions options)
      : module_(module), state_(std::make_shared<ShardedModule>(module.ptr(), mesh, std::move(options))) {}

  // The module itself. A method that reads parameters must enter the hooks (nn::Module::hooked).
  auto* operator->() { return module_.get(); }
  Holder& module() { return module_; }

  // The forward of the root, with its parameters gathered.
  template <typename... Args>
  auto operator()(Args&&... args) {
    if (state_->root_has_hooks()) return module_(std::forward<Args>(args)...);
    state_->before_root_forward();
    try {
      auto result = module_(std::forward<Args>(args)...);
      std::vector<at::Tensor> outputs;
      nn::collect_tensors(result, outputs);
      state_->after_root_forward(outputs);
      return result;
    } catch (...) {
      state_->abandon_root_forward();
      throw;
    }
  }

  std::vector<at::Tensor> parameters() const { return state_->parameters(); }
  double clip_grad_norm(double max_norm) { return state_->clip_grad_norm(max_norm); }
  ShardedModule& state() { return *state_; }
  const std::shared_ptr<ShardedModule>& shared_state() const { return state_; }

 private:
  Holder module_;
  std::shared_ptr<ShardedModule> state_;
};

// Collective over the mesh; see ShardedModule.
template <typename Holder>
Sharded<Holder> fully_shard(Holder module, comm::Mesh& mesh, FsdpOptions options = {}) {
  return Sharded<Holder>(std::move(module), mesh, std::move(options));
}

}  // namespace lockstep::fsdp
