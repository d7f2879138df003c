#include "lockstep/models/causal_lm.h"

#include <c10/core/GradMode.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/models/checkpoint_weights.h"
#include "lockstep/models/random_weights.h"
#include "lockstep/nn/linear_cross_entropy.h"

namespace lockstep::models {
namespace {

nn::Linear make_head(const ModelSpec& spec, const nn::Embedding& embedding,
                     const at::TensorOptions& options) {
  if (spec.tie_word_embeddings) return nn::Linear(embedding->weight);
  return nn::Linear(spec.hidden_size, spec.vocab_size, /*with_bias=*/false, options);
}

}  // namespace

CausalLMImpl::CausalLMImpl(const ModelSpec& spec, std::unique_ptr<nn::WeightSource> weights)
    : Module("CausalLM"), spec_(spec), weights_(std::move(weights)) {
  const auto described = at::TensorOptions().dtype(at::kFloat).device(at::kMeta);
  model_ = register_module("model", Decoder(spec, described));
  lm_head_ = register_module("lm_head", make_head(spec, model_->embed_tokens, described));
}

at::Tensor CausalLMImpl::forward(const at::Tensor& tokens, const at::Tensor& positions,
                                 const at::Tensor& document_ids) {
  return lm_head_(model_(tokens, positions, document_ids));
}

at::Tensor CausalLMImpl::loss(const ModelInput& input) {
  return hooked([&] {
    const auto hidden = model_(input.tokens, input.positions, input.document_ids);
    return lm_head_->hooked([&] {
      return nn::linear_cross_entropy(hidden.flatten(0, 1), lm_head_->weight, input.targets.flatten());
    });
  });
}

at::Tensor CausalLMImpl::next_logits(const at::Tensor& tokens, KeyValueCache& cache) {
  const c10::NoGradGuard no_grad;
  return hooked([&] {
    const auto hidden = model_(tokens, cache);
    return lm_head_(hidden.select(1, hidden.size(1) - 1));
  });
}

void CausalLMImpl::read(const std::string& name, int64_t offset, at::Tensor out) {
  const bool tied_head = spec_.tie_word_embeddings && name == "lm_head.weight";
  weights_->read(tied_head ? "model.embed_tokens.weight" : name, offset, std::move(out));
}

CausalLM CausalLM::from_pretrained(const ModelConfig& config, uint64_t seed) {
  if (!std::filesystem::is_directory(config.source)) {
    throw ConfigError(
        fmt::format("model: model.source = {} is not a folder. Download the model (config.json, "
                    "tokenizer and safetensors files) and give its folder",
                    config.source));
  }
  const ModelSpec spec = ModelSpec::load(config.source);
  if (!spec.unknown_keys.empty()) {
    log::warning("{}/config.json: not read, since their meaning is not known here: {}", config.source,
                 fmt::join(spec.unknown_keys, ", "));
  }
  if (config.init == "random") {
    return CausalLM(spec, std::make_unique<RandomWeights>(seed, spec.initializer_range));
  }
  auto weights = std::make_unique<CheckpointWeights>(config.source);
  CheckpointWeights& files = *weights;
  CausalLM model(spec, std::move(weights));
  files.check_against(*model, spec);
  return model;
}

}  // namespace lockstep::models
