#include "lockstep/nn/swiglu.h"

#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/kernels/swiglu.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Swiglu : public torch::autograd::Function<Swiglu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate, const at::Tensor& up) {
    context->save_for_backward({gate, up});
    return kernels::swiglu(gate, up);
  }

  static variable_list backward(AutogradContext* context, variable_list y_grad) {
    const auto saved = context->get_saved_variables();
    const auto [gate_grad, up_grad] = kernels::swiglu_backward(y_grad[0].contiguous(), saved[0], saved[1]);
    return {gate_grad, up_grad};
  }
};

}  // namespace

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) { return Swiglu::apply(gate, up); }

}  // namespace lockstep::nn
