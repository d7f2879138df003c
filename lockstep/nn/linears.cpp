#include "lockstep/nn/linears.h"

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/base/check.h"
#include "lockstep/kernels/product.h"
#include "lockstep/kernels/side_by_side.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::nn {
namespace {

using kernels::product;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Layers computed as one: all of them where their parameters lie side by side, else one.
struct Joint {
  size_t begin, end;  // of the layers
  at::Tensor weight;  // [sum of out_i, in]
  std::optional<at::Tensor> bias;
};

std::vector<Joint> joints_of(at::TensorList weights, at::TensorList biases) {
  const auto weight = kernels::joined_rows(weights);
  const auto bias = biases.empty() ? std::nullopt : kernels::joined_rows(biases);
  if (weight && (biases.empty() || bias)) return {{0, weights.size(), *weight, bias}};
  std::vector<Joint> joints;
  for (size_t i = 0; i < weights.size(); ++i)
    joints.push_back({i, i + 1, weights[i], biases.empty() ? std::nullopt : std::optional(biases[i])});
  return joints;
}

std::vector<int64_t> first_sizes(at::TensorList tensors) {
  std::vector<int64_t> sizes;
  for (const at::Tensor& tensor : tensors) sizes.push_back(tensor.size(0));
  return sizes;
}

struct Again : torch::CustomClassHolder {
  explicit Again(MadeAgain input) : input(std::move(input)) {}
  MadeAgain input;
};

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  // parameters: the weights, then the biases if there are any. A list of another type is not seen as inputs.
  // `again` may be null.
  static variable_list forward(AutogradContext* context, const at::Tensor& x, at::TensorList parameters,
                               int64_t count, const c10::intrusive_ptr<Again>& again) {
    const auto layers = static_cast<size_t>(count);
    const auto weights = parameters.slice(0, layers), biases = parameters.slice(layers);
    const at::Tensor rows = rows_of(x);  // [N, in]
    auto sizes = x.sizes().vec();
    variable_list outputs;
    for (const Joint& joint : joints_of(weights, biases)) {
      sizes.back() = joint.weight.size(0);
      const at::Tensor out = at::empty(sizes, x.options());
      product(rows_of(out), {rows}, {joint.weight, /*transposed=*/true}, {.bias = joint.bias});
      const auto widths = first_sizes(weights.slice(joint.begin, joint.end - joint.begin));
      for (const at::Tensor& columns : out.split_with_sizes(widths, -1)) outputs.push_back(columns);
    }
    // The biases, for the homes of their gradients.
    variable_list saved = parameters.vec();
    if (again) {
      auto& from = again->input.from;
      saved.insert(saved.end(), from.begin(), from.end());
      from.clear();  // autograd lets go of what is saved, but not of this
      context->saved_data["again"] = at::IValue::make_capsule(again);
    } else {
      saved.push_back(rows);
    }
    context->save_for_backward(std::move(saved));
    context->saved_data["layers"] = count;
    context->saved_data["parameters"] = static_cast<int64_t>(parameters.size());
    context->saved_data["sizes"] = x.sizes().vec();
    return outputs;
  }

  static variable_list backward(AutogradContext* context, variable_list output_grads) {
    const auto saved = context->get_saved_variables();
    const auto layers = static_cast<size_t>(context->saved_data["layers"].toInt());
    const auto num_parameters = static_cast<size_t>(context->saved_data["parameters"].toInt());
    const auto weights = at::TensorList(saved).slice(0, layers),
               biases = at::TensorList(saved).slice(layers, num_parameters - layers),
               rest = at::TensorList(saved).slice(num_parameters);
    const at::Tensor rows = input_rows(context, rest);
    at::Tensor x_grad;
    variable_list grads(1 + num_parameters + 2);  // the last ones for `count` and `again`
    for (const Joint& joint : joints_of(weights, biases)) {
      const size_t count = joint.end - joint.begin;
      const auto parts = at::TensorList(output_grads).slice(joint.begin, count);
      const auto joined = kernels::joined_columns(parts);
      const at::Tensor grad = rows_of(joined ? *joined : at::cat(parts, -1));  // [N, sum of out_i]
      if (context->needs_input_grad(0)) {
        const bool is_first = !x_grad.defined();
        if (is_first) x_grad = at::empty_like(rows);
        product(x_grad, {grad}, {joint.weight}, {.accumulate = !is_first});
      }
      const auto own = weights.slice(joint.begin, count);
      const auto own_biases = joint.bias ? biases.slice(joint.begin, count) : at::TensorList();
      const size_t first = 1 + joint.begin, first_bias = first + layers;  // among the inputs
      const auto any_wanted = [&](size_t begin) {
        for (size_t i = 0; i < count; ++i)
          if (context->needs_input_grad(begin + i)) return true;
        return false;
      };
      const WantedGradients wanted{any_wanted(first), joint.bias && any_wanted(first_bias)};
      const auto made = parameter_gradients(own, own_biases, wanted, grad, rows);
      const auto share = [&](const at::Tensor& all, size_t begin) {
        if (!all.defined()) return;
        const auto pieces = all.split_with_sizes(first_sizes(own), 0);
        for (size_t i = 0; i < count; ++i)
          if (context->needs_input_grad(begin + i)) grads[begin + i] = pieces[i];
      };
      share(made.weight, first);
      share(made.bias, first_bias);
    }
    if (x_grad.defined()) grads[0] = x_grad.view(context->saved_data["sizes"].toIntVector());
    return grads;
  }

 private:
  static at::Tensor input_rows(AutogradContext* context, at::TensorList kept) {
    const auto again = context->saved_data.find("again");
    if (again == context->saved_data.end()) return kept[0];
    const at::AutoGradMode no_grad(false);
    return rows_of(static_cast<Again&>(*again->second.toCapsule()).input.make(kept.vec()));
  }
};

}  // namespace

ParameterGradients parameter_gradients(at::TensorList weights, at::TensorList biases, WantedGradients wanted,
                                       const at::Tensor& out_grad, const at::Tensor& rows) {
  ParameterGradients made;
  if (wanted.bias) made.bias = new_joint_gradient(biases);
  if (wanted.weight) {
    made.weight = new_joint_gradient(weights);
    const auto sums = wanted.bias ? std::optional(made.bias) : std::nullopt;
    product(made.weight, {out_grad, /*transposed=*/true}, {rows}, {.row_sums = sums});
  } else if (wanted.bias) {
    at::sum_out(made.bias, out_grad, at::IntArrayRef{0});
  }
  return made;
}

at::Tensor rows_of(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}).contiguous(); }

std::vector<at::Tensor> linears(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases,
                                const std::optional<MadeAgain>& again) {
  LOCKSTEP_CHECK(biases.empty() || biases.size() == weights.size()) << "all layers have a bias or none";
  variable_list parameters = weights;
  parameters.insert(parameters.end(), biases.begin(), biases.end());
  return LinearFunction::apply(x, at::TensorList(parameters), static_cast<int64_t>(weights.size()),
                               again ? c10::make_intrusive<Again>(*again) : c10::intrusive_ptr<Again>());
}

}  // namespace lockstep::nn
