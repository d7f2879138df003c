#include "lockstep/optim/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/kernels/adamw.h"

namespace lockstep::optim {
namespace {

void check_option(bool good, const char* key, const char* rule, double value) {
  if (!good) throw ConfigError(fmt::format("optimizer.{} must {}, got {}", key, rule, value));
}

[[noreturn]] void refuse(size_t index, const std::string& what) {
  throw ConfigError(fmt::format("AdamW: parameter {} {}", index, what));
}

void check_parameter(size_t index, const at::Tensor& p) {
  if (!p.defined()) refuse(index, "is not defined");
  if (p.scalar_type() != at::kFloat && p.scalar_type() != at::kDouble && p.scalar_type() != at::kBFloat16) {
    refuse(index, fmt::format("is {}: master weights must be float32, float64 or bfloat16",
                              c10::toString(p.scalar_type())));
  }
  if (!p.is_leaf()) refuse(index, "is a computed tensor, not a leaf: gradients would never reach it");
  const auto own_bytes = size_t(p.numel()) * p.element_size();
  if (!p.is_contiguous() || p.storage().nbytes() != own_bytes) {
    refuse(index,
           fmt::format("is a view of {} bytes into a buffer of {}, which a sharded module frees and refills: "
                       "pass the parameters() of the handle that prepare_model returned, not the module's",
                       own_bytes, p.storage().nbytes()));
  }
}

}  // namespace

void AdamWOptions::validate() const {
  check_option(lr >= 0, "lr", "not be negative", lr);
  check_option(beta1 >= 0 && beta1 < 1, "betas", "lie in [0, 1)", beta1);
  check_option(beta2 >= 0 && beta2 < 1, "betas", "lie in [0, 1)", beta2);
  check_option(eps >= 0, "eps", "not be negative", eps);
  check_option(weight_decay >= 0, "weight_decay", "not be negative", weight_decay);
}

AdamW::AdamW(std::vector<at::Tensor> parameters, AdamWOptions options)
    : options_(options), parameters_(std::move(parameters)) {
  options_.validate();
  std::set<const void*> seen;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& p = parameters_[i];
    check_parameter(i, p);
    if (!seen.insert(p.unsafeGetTensorImpl()).second) refuse(i, "was given twice: pass tied weights once");
    const at::NoGradGuard no_grad;
    slots_.push_back({at::zeros_like(p), at::zeros_like(p), at::zeros({1}, at::kLong)});
  }
}

void AdamW::step(double grad_scale, const std::vector<at::Tensor>& copies) {
  LOCKSTEP_CHECK(copies.empty() || copies.size() == parameters_.size()) << copies.size() << " copies";
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& grad = parameters_[i].grad();
    if (!grad.defined()) continue;
    Slot& slot = slots_[i];
    const int64_t step = ++*slot.steps.mutable_data_ptr<int64_t>();
    kernels::adamw(
        parameters_[i], slot.exp_avg, slot.exp_avg_sq, grad.contiguous(),
        {options_.lr, options_.beta1, options_.beta2, options_.eps, options_.weight_decay, step, grad_scale},
        copies.empty() ? at::Tensor() : copies[i]);
  }
}

void AdamW::zero_grad() {
  for (auto& p : parameters_) p.mutable_grad().reset();
}

std::vector<NamedState> AdamW::state() const {
  std::vector<NamedState> state;
  for (size_t i = 0; i < slots_.size(); ++i) {
    state.push_back({fmt::format("exp_avg.{}", i), slots_[i].exp_avg});
    state.push_back({fmt::format("exp_avg_sq.{}", i), slots_[i].exp_avg_sq});
    state.push_back({fmt::format("steps.{}", i), slots_[i].steps});
  }
  return state;
}

void AdamW::load_state(const std::vector<NamedState>& state) {
  std::map<std::string, at::Tensor> given;
  for (const auto& [name, tensor] : state) given[name] = tensor;
  const auto own = this->state();
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    if (found == given.end()) {
      throw ConfigError(
          fmt::format("AdamW: state has no '{}': it was saved for fewer parameters than the {} here", name,
                      parameters_.size()));
    }
    if (found->second.sizes() != tensor.sizes()) {
      throw ConfigError(
          fmt::format("AdamW: state '{}' has {} elements, the parameter's shard here {}: "
                      "reshard it first",
                      name, found->second.numel(), tensor.numel()));
    }
  }
  if (given.size() != own.size()) {
    throw ConfigError(fmt::format("AdamW: state has {} tensors, {} parameters need {}: it is another model's",
                                  given.size(), parameters_.size(), own.size()));
  }
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) tensor.copy_(given.at(name));
}

}  // namespace lockstep::optim
