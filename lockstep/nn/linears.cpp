#include "lockstep/nn/linears.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/product.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::nn {
namespace {

using kernels::product;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  // parameters: the weights, then the biases if there are any. A list of another type is not seen as inputs.
  static variable_list forward(AutogradContext* context, const at::Tensor& x, at::TensorList parameters,
                               int64_t count) {
    const auto layers = static_cast<size_t>(count);
    const bool with_bias = parameters.size() > layers;
    const at::Tensor rows = rows_of(x);  // [N, in]
    auto sizes = x.sizes().vec();
    variable_list saved{rows}, outputs;
    for (size_t i = 0; i < layers; ++i) {
      const at::Tensor& weight = parameters[i];
      const at::Tensor out = at::empty({rows.size(0), weight.size(0)}, x.options());
      product(out, {rows}, {weight, /*transposed=*/true},
              {.bias = with_bias ? std::optional(parameters[layers + i]) : std::nullopt});
      sizes.back() = weight.size(0);
      outputs.push_back(out.view(sizes));
      saved.push_back(weight);
    }
    // The biases, for the homes of their gradients.
    saved.insert(saved.end(), parameters.begin() + count, parameters.end());
    context->save_for_backward(std::move(saved));
    context->saved_data["layers"] = count;
    context->saved_data["sizes"] = x.sizes().vec();
    return outputs;
  }

  static variable_list backward(AutogradContext* context, variable_list output_grads) {
    const auto saved = context->get_saved_variables();
    const auto layers = static_cast<size_t>(context->saved_data["layers"].toInt());
    const bool with_bias = saved.size() > 1 + layers;
    const at::Tensor& rows = saved[0];
    at::Tensor x_grad;
    variable_list weight_grads(layers), bias_grads(with_bias ? layers : 0);
    for (size_t i = 0; i < layers; ++i) {
      const at::Tensor grad = rows_of(output_grads[i]), &weight = saved[1 + i];  // [N, out]
      if (context->needs_input_grad(0)) {
        const bool is_first = !x_grad.defined();
        if (is_first) x_grad = at::empty_like(rows);
        product(x_grad, {grad}, {weight}, {.accumulate = !is_first});
      }
      if (context->needs_input_grad(1 + i)) {
        weight_grads[i] = new_gradient(weight);
        product(weight_grads[i], {grad, /*transposed=*/true}, {rows});
      }
      if (with_bias && context->needs_input_grad(1 + layers + i))
        bias_grads[i] = bias_gradient(saved[1 + layers + i], grad);
    }
    variable_list grads{x_grad.defined() ? x_grad.view(context->saved_data["sizes"].toIntVector()) : x_grad};
    grads.insert(grads.end(), weight_grads.begin(), weight_grads.end());
    grads.insert(grads.end(), bias_grads.begin(), bias_grads.end());
    grads.emplace_back();  // for `count`
    return grads;
  }
};

}  // namespace

at::Tensor bias_gradient(const at::Tensor& bias, const at::Tensor& out_grad) {
  at::Tensor gradient = new_gradient(bias);
  return at::sum_out(gradient, out_grad, at::IntArrayRef{0});
}

at::Tensor rows_of(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}).contiguous(); }

std::vector<at::Tensor> linears(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases) {
  LOCKSTEP_CHECK(biases.empty() || biases.size() == weights.size()) << "all layers have a bias or none";
  variable_list parameters = weights;
  parameters.insert(parameters.end(), biases.begin(), biases.end());
  return LinearFunction::apply(x, at::TensorList(parameters), static_cast<int64_t>(weights.size()));
}

}  // namespace lockstep::nn
