#include "lockstep/nn/swiglu.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/kernels/swiglu.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor rows_of(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

class SwigluLinear : public torch::autograd::Function<SwigluLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate, const at::Tensor& up,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
    context->save_for_backward({gate, up, weight});
    context->saved_data["with_bias"] = bias.has_value();
    return at::linear(kernels::swiglu(gate, up), weight, bias);
  }

  static variable_list backward(AutogradContext* context, variable_list out_grad) {
    const auto saved = context->get_saved_variables();
    const auto& [gate, up, weight] = std::tie(saved[0], saved[1], saved[2]);
    const at::Tensor grad = rows_of(out_grad[0]);
    const auto [gate_grad, up_grad, y] =
        kernels::swiglu_backward(at::mm(grad, weight).view(gate.sizes()), gate, up);
    variable_list grads{gate_grad, up_grad, {}, {}};
    if (context->needs_input_grad(2)) grads[2] = at::mm(grad.t(), rows_of(y));
    const bool with_bias = context->saved_data["with_bias"].toBool();
    if (with_bias && context->needs_input_grad(3)) grads[3] = at::sum(grad, 0);
    return grads;
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
