// y = x W^T + b for one or several layers of one input, with gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep::nn {

// For each layer i: [..., in] -> [..., out_i]. weights: [out_i, in]; biases: [out_i] each, or none at all.
// Products are kernels::product. Keeps x. The gradients of x through the layers are added by the products
// themselves, in the layers' order, where autograd would hold each and add them up. First derivatives only.
std::vector<at::Tensor> linears(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                const std::vector<at::Tensor>& biases);

// What such a layer's bias gets: the sum of out_grad [N, out] over N, in the bias' gradient_home.h.
at::Tensor bias_gradient(const at::Tensor& bias, const at::Tensor& out_grad);

// [..., in] -> [N, in], contiguous: the operand of a product.
at::Tensor rows_of(const at::Tensor& x);

}  // namespace lockstep::nn
