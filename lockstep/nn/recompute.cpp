#include "lockstep/nn/recompute.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Body = std::function<Tensors(const Tensors&)>;

thread_local bool first_forward = false;

class FirstForward {
 public:
  FirstForward() : before_(std::exchange(first_forward, true)) {}
  ~FirstForward() { first_forward = before_; }

 private:
  bool before_;
};

struct HeldBody : torch::CustomClassHolder {
  explicit HeldBody(Body b) : body(std::move(b)) {}
  Body body;
};

// `marker` requires grad, so that outputs do even where the inputs do not: parameters are not among those.
struct Recomputed : torch::autograd::Function<Recomputed> {
  static variable_list forward(AutogradContext* ctx, const c10::intrusive_ptr<HeldBody>& held,
                               const at::Tensor& /*marker*/, at::TensorList inputs) {
    ctx->saved_data["body"] = at::IValue::make_capsule(held);
    ctx->save_for_backward(inputs.vec());
    ctx->set_materialize_grads(false);
    const FirstForward guard;
    return held->body(inputs.vec());  // gradients are off in here
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto capsule = ctx->saved_data["body"].toCapsule();
    const auto& body = static_cast<HeldBody&>(*capsule).body;
    Tensors inputs = ctx->get_saved_variables();
    for (at::Tensor& input : inputs) {
      const bool requires_grad = input.requires_grad();
      input = input.detach().set_requires_grad(requires_grad);
    }
    Tensors outputs;
    {
      const at::AutoGradMode recording(true);
      outputs = body(inputs);
    }
    variable_list roots, root_gradients;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad() || !gradients[i].defined()) continue;
      roots.push_back(outputs[i]);
      root_gradients.push_back(gradients[i]);
    }
    outputs.clear();
    if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
    variable_list result(2);  // of the body and the marker
    for (const at::Tensor& input : inputs) result.push_back(input.grad());
    return result;
  }
};

}  // namespace

Tensors recomputed(Body body, const Tensors& inputs) {
  if (!at::GradMode::is_enabled()) return body(inputs);
  const at::Tensor marker = at::empty({0}).set_requires_grad(true);
  return Recomputed::apply(c10::make_intrusive<HeldBody>(std::move(body)), marker, at::TensorList(inputs));
}

bool is_to_be_recomputed() { return first_forward; }

}  // namespace lockstep::nn
