#include "lockstep/nn/swiglu.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/kernels/product.h"
#include "lockstep/kernels/swiglu.h"
#include "lockstep/nn/linears.h"

namespace lockstep::nn {
namespace {

using kernels::product;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class SwigluLinear : public torch::autograd::Function<SwigluLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate, const at::Tensor& up,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
    context->save_for_backward({gate, up, weight, bias.value_or(at::Tensor())});
    const at::Tensor y = rows_of(kernels::swiglu(gate, up));
    const at::Tensor out = at::empty({y.size(0), weight.size(0)}, y.options());
    product(out, {y}, {weight, /*transposed=*/true}, {.bias = bias});
    auto sizes = gate.sizes().vec();
    sizes.back() = weight.size(0);
    return out.view(sizes);
  }

  static variable_list backward(AutogradContext* context, variable_list out_grad) {
    const auto saved = context->get_saved_variables();
    const auto& [gate, up, weight] = std::tie(saved[0], saved[1], saved[2]);
    const at::Tensor grad = rows_of(out_grad[0]);
    const at::Tensor y_grad = at::empty(gate.sizes(), gate.options());
    product(rows_of(y_grad), {grad}, {weight});
    const auto [gate_grad, up_grad, y] = kernels::swiglu_backward(y_grad, gate, up);
    const WantedGradients wanted{context->needs_input_grad(2),
                                 saved[3].defined() && context->needs_input_grad(3)};
    const auto made = parameter_gradients(weight, saved[3], wanted, grad, rows_of(y));
    return {gate_grad, up_grad, made.weight, made.bias};
  }
};

}  // namespace

at::Tensor swiglu_linear(const at::Tensor& gate, const at::Tensor& up, Linear& down) {
  return down->hooked([&] {
    const auto bias = down->bias.defined() ? std::optional<at::Tensor>(down->bias) : std::nullopt;
    return SwigluLinear::apply(gate, up, down->weight, bias);
  });
}

}  // namespace lockstep::nn
