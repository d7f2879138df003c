// The layers of a decoder that hold parameters. Parameters are made with `options`
// (dtype and device) and left without values: whoever owns the model fills them. On the meta device
// they describe the model and hold nothing.
//
// Letters: ... any leading dims, D width, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

#include "lockstep/nn/linears.h"
#include "lockstep/nn/module.h"

namespace lockstep::nn {

// y = x W^T + b.
struct LinearImpl : Module {
  LinearImpl(int64_t in_features, int64_t out_features, bool with_bias, const at::TensorOptions& options);
  // A layer that shares another's weight (tied embeddings): one parameter under two names.
  explicit LinearImpl(const at::Tensor& shared_weight);

  // [..., in] -> [..., out]
  at::Tensor forward(const at::Tensor& x);

  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]; undefined without bias
};
LOCKSTEP_MODULE(Linear);

// Row lookup.
struct EmbeddingImpl : Module {
  EmbeddingImpl(int64_t vocab_size, int64_t width, const at::TensorOptions& options);

  // int64 [...] in 0 .. V-1 -> [..., D]. On CPU an index outside throws; on GPU it stops the device.
  at::Tensor forward(const at::Tensor& indices);

  at::Tensor weight;  // [V, D]
};
LOCKSTEP_MODULE(Embedding);

// y = x / sqrt(mean(x^2) + eps) * w over the last dim (Zhang and Sennrich, 2019). In bf16 and f16 the
// arithmetic is float32 and the result is rounded once.
struct RMSNormImpl : Module {
  RMSNormImpl(int64_t width, double eps, const at::TensorOptions& options);

  // [..., D] -> [..., D], in x's dtype
  at::Tensor forward(const at::Tensor& x);
  // Of a sum, in one pass: x + residual and its norm, [..., D] each.
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& residual);
  // forward(x), for layers that would keep it: x and the weight are kept for this norm's gradient.
  MadeAgain made_again(const at::Tensor& x) const;

  at::Tensor weight;  // [D]

 private:
  double eps_;
};
LOCKSTEP_MODULE(RMSNorm);

}  // namespace lockstep::nn
