#include "lockstep/nn/rms_norm.h"

#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/kernels/rms_norm.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Gradients {
  at::Tensor h, weight;
};

// From what the forward pass saved: h, the weight and r.
Gradients gradients(AutogradContext* context, const at::Tensor& y_grad, const at::Tensor& h_grad) {
  const auto saved = context->get_saved_variables();
  const auto& [h, weight, r] = std::tie(saved[0], saved[1], saved[2]);
  const auto g = y_grad.defined() ? y_grad.contiguous() : at::zeros_like(h);
  const auto past = h_grad.defined() ? std::optional<at::Tensor>(h_grad.contiguous()) : std::nullopt;
  const at::Tensor weight_grad = new_gradient(weight);
  return {kernels::rms_norm_backward(weight_grad, g, past, h, weight, r), weight_grad};
}

class RmsNorm : public torch::autograd::Function<RmsNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            double eps) {
    const auto [y, h, r] = kernels::rms_norm(x.contiguous(), std::nullopt, weight, eps);
    context->save_for_backward({h, weight, r});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto [x, weight] = gradients(context, grads[0], {});
    return {x, weight, {}};
  }
};

class AddRmsNorm : public torch::autograd::Function<AddRmsNorm> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& residual,
                               const at::Tensor& weight, double eps) {
    const auto [y, h, r] = kernels::rms_norm(x.contiguous(), residual.contiguous(), weight, eps);
    context->save_for_backward({h, weight, r});
    context->set_materialize_grads(false);
    return {h, y};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto [sum, weight] = gradients(context, grads[1], grads[0]);
    return {sum, sum, weight, {}};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return RmsNorm::apply(x, weight, eps);
}

std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& x, const at::Tensor& residual,
                                                const at::Tensor& weight, double eps) {
  const auto outputs = AddRmsNorm::apply(x, residual, weight, eps);
  return {outputs[0], outputs[1]};
}

}  // namespace lockstep::nn
