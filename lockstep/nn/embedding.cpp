#include "lockstep/nn/embedding.h"

#include <ATen/ops/embedding.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/kernels/add_rows.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Embedding : public torch::autograd::Function<Embedding> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const at::Tensor& indices) {
    context->save_for_backward({weight, indices});
    return at::embedding(weight, indices);
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto& [weight, indices] = std::tie(saved[0], saved[1]);
    const auto rows = grads[0].reshape({-1, weight.size(1)}).contiguous();
    if (const at::Tensor begun = begun_gradient(weight); begun.defined()) {
      kernels::add_rows(begun, indices.flatten(), rows);
      return {at::Tensor(), at::Tensor()};
    }
    const at::Tensor gradient = new_gradient(weight).zero_();
    kernels::add_rows(gradient, indices.flatten(), rows);
    return {gradient, at::Tensor()};
  }
};

}  // namespace

at::Tensor embed(const at::Tensor& weight, const at::Tensor& indices) {
  return Embedding::apply(weight, indices);
}

}  // namespace lockstep::nn
