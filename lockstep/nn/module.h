// Modules whose calls other code can wrap: the base class and the holder.
//
//   struct BlockImpl : lockstep::nn::Module {
//     at::Tensor forward(at::Tensor x);
//   };
//   LOCKSTEP_MODULE(Block);          // instead of TORCH_MODULE(Block)
//
// Calling the holder, `block(x)`, runs the hooks around `forward`; `block->forward(x)` goes
// past them. fsdp::fully_shard uses the hooks to gather a unit's parameters before they
// are read and to free them afterwards. A method other than `forward` that reads
// parameters enters the hooks itself with `hooked` (see models::CausalLMImpl::loss).
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <utility>
#include <vector>

namespace lockstep::nn {

// What runs around a module's forward. One per module at most.
class ForwardHooks {
 public:
  virtual ~ForwardHooks() = default;
  virtual void before_forward() = 0;
  // `outputs`: the tensors of the result, in order. The hook may register gradient hooks
  // on them; it cannot replace them.
  virtual void after_forward(const std::vector<at::Tensor>& outputs) = 0;
  // `forward` threw: give back what before_forward took.
  virtual void abandon_forward() noexcept = 0;
};

// Collects the tensors of a result. A result type of your own: overload it beside the type.
inline void collect_tensors(const at::Tensor& t, std::vector<at::Tensor>& out) {
  if (t.defined()) out.push_back(t);
}
template <typename T>
void collect_tensors(const std::vector<T>& ts, std::vector<at::Tensor>& out) {
  for (const auto& t : ts) collect_tensors(t, out);
}
template <typename... Ts>
void collect_tensors(const std::tuple<Ts...>& ts, std::vector<at::Tensor>& out) {
  std::apply([&](const auto&... t) { (collect_tensors(t, out), ...); }, ts);
}
template <typename A, typename B>
void collect_tensors(const std::pair<A, B>& p, std::vector<at::Tensor>& out) {
  collect_tensors(p.first, out);
  collect_tensors(p.second, out);
}

class Module : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;

  void set_forward_hooks(std::shared_ptr<ForwardHooks> hooks) { hooks_ = std::move(hooks); }
  const std::shared_ptr<ForwardHooks>& forward_hooks() const { return hooks_; }

  // Runs `body` between the hooks and returns its result.
  template <typename Body>
  auto hooked(Body&& body) {
    if (!hooks_) return body();
    const auto hooks = hooks_;
    hooks->before_forward();
    try {
      auto result = body();
      std::vector<at::Tensor> outputs;
      collect_tensors(result, outputs);
      hooks->after_forward(outputs);
      return result;
    } catch (...) {
      hooks->abandon_forward();
      throw;
    }
  }

 private:
  std::shared_ptr<ForwardHooks> hooks_;
};

// Values of a model's parameters that are not in memory yet. A root module that also is a
// WeightSource may describe its parameters as meta tensors; whoever materialises them asks
// for just the slices it keeps.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // Fills out: [n], any float dtype, on CPU, with elements [offset, offset + n) of the
  // flattened parameter `name` (its name in named_parameters() of the root). Thread: the
  // caller's. Holds no more than one tensor of the source in memory.
  virtual void read(const std::string& name, int64_t offset, at::Tensor out) = 0;
};

// The holder: as torch::nn::ModuleHolder, but a call runs the hooks.
template <typename Contained>
class ModuleHolder : public torch::nn::ModuleHolder<Contained> {
 public:
  using torch::nn::ModuleHolder<Contained>::ModuleHolder;

  template <typename... Args>
  auto operator()(Args&&... args) {
    Contained& module = *this->get();
    return module.hooked([&] { return module.forward(std::forward<Args>(args)...); });
  }
};

}  // namespace lockstep::nn

#define LOCKSTEP_MODULE(Name)                                     \
  class Name : public ::lockstep::nn::ModuleHolder<Name##Impl> {  \
   public:                                                        \
    using ::lockstep::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
    using Impl [[maybe_unused]] = Name##Impl;                     \
  }
