// y = x W^T + b for one or several layers of one input, with gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

namespace lockstep::nn {

// An input that need not be kept for backward: make(from) is it once more, to the bit, and `from` is kept
// anyway.
struct MadeAgain {
  std::vector<at::Tensor> from;
  std::function<at::Tensor(const std::vector<at::Tensor>& from)> make;
};

// For each layer i: [..., in] -> [..., out_i]. weights: [out_i, in]; biases: [out_i] each, or none at all.
// Products are kernels::product. Keeps x, or what `again` makes it of. First derivatives only.
//
// Where the weights lie side by side, and the biases (kernels/side_by_side.h; fsdp lays a unit's matrices
// so), the layers are one: a product each for the outputs, which are columns of one tensor, for the gradient
// of x and for that of the weights. Best when the outputs' gradients come as columns of one tensor too, else
// they are copied together. Elsewhere each layer has its products, and those for the gradient of x add up, in
// the layers' order, where autograd would hold each.
std::vector<at::Tensor> linears(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases,
                                const std::optional<MadeAgain>& again = std::nullopt);

// What the weights and biases of such layers, taken as one, get in backward, in their homes
// (gradient_home.h); undefined where not wanted. out_grad: [N, sum of out_i]; rows: [N, in].
struct ParameterGradients {
  at::Tensor weight;  // [sum of out_i, in]
  at::Tensor bias;    // [sum of out_i]
};
struct WantedGradients {
  bool weight, bias;
};
ParameterGradients parameter_gradients(at::TensorList weights, at::TensorList biases, WantedGradients wanted,
                                       const at::Tensor& out_grad, const at::Tensor& rows);

// [..., in] -> [N, in], contiguous: the operand of a product.
at::Tensor rows_of(const at::Tensor& x);

}  // namespace lockstep::nn
