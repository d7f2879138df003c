// A decoder-only language model of the Llama family (Llama 2, SmolLM2, Qwen2, Qwen2.5), read
// from and written to Hugging Face folders.
//
// Shapes: B rows, T tokens a row, D width, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/recipe.h"
#include "lockstep/models/config.h"
#include "lockstep/models/decoder.h"
#include "lockstep/nn/module.h"

namespace lockstep::models {

// Row-packed documents. Nothing attends across documents.
struct ModelInput {
  at::Tensor tokens;        // [B, T] int64
  at::Tensor positions;     // [B, T] int64, restarting at 0 in each document
  at::Tensor document_ids;  // [B, T] int32, equal inside a document, rising along a row; -1: padding
  at::Tensor targets;       // [B, T] int64: the token that position t predicts; -100: not trained
};

struct CausalLMImpl : nn::Module, nn::WeightSource {
  // `weights`: where parameter values come from; the parameters are float32 meta tensors. Tied
  // embeddings are one parameter under two names, of which the first is the embedding's.
  CausalLMImpl(const ModelSpec& spec, std::unique_ptr<nn::WeightSource> weights);

  // Logits [B, T, V]. Inputs may lie on the CPU whatever the device of the weights; document_ids and
  // targets are better off there, since their values decide what is computed.
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& document_ids);
  // Scalar float32 (float64 in float64): the sum of -log p(target) over the trained targets.
  // Enters the hooks itself. Holds logits of a part of the tokens at a time (nn/linear_cross_entropy.h).
  at::Tensor loss(const ModelInput& input);
  // Logits [B, V] of the token after `tokens` [B, T], which follow those in `cache` (models/kv_cache.h);
  // T is 1 unless the cache is empty. Enters the hooks itself. Keeps no graph.
  at::Tensor next_logits(const at::Tensor& tokens, KeyValueCache& cache);

  // Of the decoder's layers (DecoderImpl::set_recompute).
  void set_recompute(Recompute what) { model_->set_recompute(what); }
  // DecoderImpl::set_recorder.
  void set_recorder(std::shared_ptr<nn::Recorder> recorder) { model_->set_recorder(std::move(recorder)); }

  const ModelSpec& spec() const { return spec_; }
  void read(const std::string& name, int64_t offset, at::Tensor out) override;

 private:
  ModelSpec spec_;
  std::unique_ptr<nn::WeightSource> weights_;
  Decoder model_{nullptr};
  nn::Linear lm_head_{nullptr};
};

class CausalLM : public nn::ModuleHolder<CausalLMImpl> {
 public:
  using nn::ModuleHolder<CausalLMImpl>::ModuleHolder;
  using Impl = CausalLMImpl;
  // Describes the model without holding its weights. Checks config.json against the
  // tensors listed in the safetensors headers (names, shapes, nothing missing, nothing
  // unread). With config.init == "random": seeded values, each tensor by (seed, name).
  // Throws ConfigError.
  static CausalLM from_pretrained(const ModelConfig& config, uint64_t seed = 0);
};

}  // namespace lockstep::models
