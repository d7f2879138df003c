#include "lockstep/nn/shared_input.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/base/check.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor rows_of(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

class LinearEach : public torch::autograd::Function<LinearEach> {
 public:
  // parameters: the weights, then the biases if there are any. A list of another type is not seen as inputs.
  static variable_list forward(AutogradContext* context, const at::Tensor& x, at::TensorList parameters,
                               int64_t count) {
    const auto layers = static_cast<size_t>(count);
    const bool with_bias = parameters.size() > layers;
    variable_list saved{x}, outputs;
    for (size_t i = 0; i < layers; ++i) {
      saved.push_back(parameters[i]);
      outputs.push_back(with_bias ? at::linear(x, parameters[i], parameters[layers + i])
                                  : at::linear(x, parameters[i]));
    }
    context->save_for_backward(std::move(saved));
    context->saved_data["with_bias"] = with_bias;
    return outputs;
  }

  static variable_list backward(AutogradContext* context, variable_list output_grads) {
    const auto saved = context->get_saved_variables();
    const size_t layers = saved.size() - 1;
    const bool with_bias = context->saved_data["with_bias"].toBool();
    const at::Tensor x = rows_of(saved[0]);
    at::Tensor x_grad;
    variable_list weight_grads(layers), bias_grads(with_bias ? layers : 0);
    for (size_t i = 0; i < layers; ++i) {
      const at::Tensor y_grad = rows_of(output_grads[i]);
      if (context->needs_input_grad(0)) {
        x_grad = x_grad.defined() ? x_grad.addmm_(y_grad, saved[1 + i]) : at::mm(y_grad, saved[1 + i]);
      }
      if (context->needs_input_grad(1 + i)) weight_grads[i] = at::mm(y_grad.t(), x);
      if (with_bias && context->needs_input_grad(1 + layers + i)) bias_grads[i] = at::sum(y_grad, 0);
    }
    variable_list grads{x_grad.defined() ? x_grad.view(saved[0].sizes()) : x_grad};
    grads.insert(grads.end(), weight_grads.begin(), weight_grads.end());
    grads.insert(grads.end(), bias_grads.begin(), bias_grads.end());
    grads.emplace_back();  // for `count`
    return grads;
  }
};

// `body` within the hooks of layers[from] and all after it.
template <typename Body>
std::vector<at::Tensor> hooked(const std::vector<Linear>& layers, size_t from, const Body& body) {
  if (from == layers.size()) return body();
  Linear layer = layers[from];  // a holder: the same layer
  return layer->hooked([&] { return hooked(layers, from + 1, body); });
}

}  // namespace

std::vector<at::Tensor> linear_each(const at::Tensor& x, const std::vector<Linear>& layers) {
  return hooked(layers, 0, [&] {
    variable_list parameters;
    for (const Linear& layer : layers) parameters.push_back(layer->weight);
    for (const Linear& layer : layers) {
      LOCKSTEP_CHECK(layer->bias.defined() == layers.front()->bias.defined()) << "all have a bias or none";
      if (layer->bias.defined()) parameters.push_back(layer->bias);
    }
    return LinearEach::apply(x, at::TensorList(parameters), static_cast<int64_t>(layers.size()));
  });
}

}  // namespace lockstep::nn
