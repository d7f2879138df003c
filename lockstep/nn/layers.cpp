#include "lockstep/nn/layers.h"

#include <ATen/ops/empty.h>

#include "lockstep/kernels/rms_norm.h"
#include "lockstep/nn/embedding.h"
#include "lockstep/nn/rms_norm.h"

namespace lockstep::nn {

// Names given here are what name() returns and wrap policies match: without namespace and "Impl".

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features, bool with_bias,
                       const at::TensorOptions& options)
    : Module("Linear") {
  weight = register_parameter("weight", at::empty({out_features, in_features}, options));
  if (with_bias) bias = register_parameter("bias", at::empty({out_features}, options));
}

LinearImpl::LinearImpl(const at::Tensor& shared_weight) : Module("Linear") {
  weight = register_parameter("weight", shared_weight, shared_weight.requires_grad());
}

at::Tensor LinearImpl::forward(const at::Tensor& x) {
  if (!bias.defined()) return linears(x, {weight}, {}).front();
  return linears(x, {weight}, {bias}).front();
}

EmbeddingImpl::EmbeddingImpl(int64_t vocab_size, int64_t width, const at::TensorOptions& options)
    : Module("Embedding") {
  weight = register_parameter("weight", at::empty({vocab_size, width}, options));
}

at::Tensor EmbeddingImpl::forward(const at::Tensor& indices) { return nn::embed(weight, indices); }

RMSNormImpl::RMSNormImpl(int64_t width, double eps, const at::TensorOptions& options)
    : Module("RMSNorm"), eps_(eps) {
  weight = register_parameter("weight", at::empty({width}, options));
}

at::Tensor RMSNormImpl::forward(const at::Tensor& x) { return rms_norm(x, weight, eps_); }

std::tuple<at::Tensor, at::Tensor> RMSNormImpl::forward(const at::Tensor& x, const at::Tensor& residual) {
  return add_rms_norm(x, residual, weight, eps_);
}

MadeAgain RMSNormImpl::made_again(const at::Tensor& x) const {
  return {{x, weight}, [eps = eps_](const std::vector<at::Tensor>& from) {
            return std::get<0>(kernels::rms_norm(from[0].contiguous(), std::nullopt, from[1], eps));
          }};
}

}  // namespace lockstep::nn
