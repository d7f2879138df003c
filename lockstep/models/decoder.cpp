#include "lockstep/models/decoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <fmt/core.h>
#include <torch/nn/modules/container/modulelist.h>

#include "lockstep/base/check.h"
#include "lockstep/nn/recompute.h"
#include "lockstep/nn/shared_input.h"
#include "lockstep/nn/swiglu.h"
#include "lockstep/nn/to_device.h"

namespace lockstep::models {
namespace {

// [B, T, heads * Dh] -> [B, T, heads, Dh]
at::Tensor split_heads(const at::Tensor& x, int64_t head_dim) { return x.unflatten(-1, {-1, head_dim}); }

// The sum of the stream and its branch, and the norm of that.
std::tuple<at::Tensor, at::Tensor> add_and_norm(const ResidualStream& x, nn::RMSNorm& norm) {
  if (!x.branch.defined()) return {x.stream, norm(x.stream)};
  return norm(x.branch, x.stream);
}

// One tensor or two, and back from the first `count` of some.
nn::Tensors tensors_of(const ResidualStream& x) {
  nn::Tensors tensors;
  collect_tensors(x, tensors);
  return tensors;
}
ResidualStream residual_of(const nn::Tensors& tensors, size_t count) {
  return {tensors[0], count > 1 ? tensors[1] : at::Tensor()};
}

bool has_hooks_inside(const DecoderLayerImpl& layer) {
  for (const auto& part : layer.modules(/*include_self=*/false)) {
    const auto* module = dynamic_cast<const nn::Module*>(part.get());
    if (module != nullptr && module->forward_hooks()) return true;
  }
  return false;
}

ResidualStream recomputed_layer(const DecoderLayer& layer, const ResidualStream& x,
                                const LayerContext& context) {
  const auto body = [layer = DecoderLayer(layer), context](const nn::Tensors& in) mutable {
    return tensors_of(layer(residual_of(in, in.size()), context));
  };
  const auto out = nn::recomputed(body, tensors_of(x));
  return residual_of(out, out.size());
}

}  // namespace

AttentionImpl::AttentionImpl(const ModelSpec& spec, int64_t layer, const at::TensorOptions& options)
    : Module("Attention"), layer_(layer), head_dim_(spec.head_dim) {
  const int64_t width = spec.hidden_size;
  q_proj_ = register_module("q_proj", nn::Linear(width, spec.query_width(), spec.qkv_bias, options));
  k_proj_ = register_module("k_proj", nn::Linear(width, spec.key_value_width(), spec.qkv_bias, options));
  v_proj_ = register_module("v_proj", nn::Linear(width, spec.key_value_width(), spec.qkv_bias, options));
  o_proj_ = register_module("o_proj", nn::Linear(spec.query_width(), width, spec.output_bias, options));
  if (spec.qk_norm) {
    q_norm_ = register_module("q_norm", nn::RMSNorm(head_dim_, spec.rms_norm_eps, options));
    k_norm_ = register_module("k_norm", nn::RMSNorm(head_dim_, spec.rms_norm_eps, options));
  }
}

at::Tensor AttentionImpl::forward(const at::Tensor& x, const LayerContext& context,
                                  const std::optional<nn::MadeAgain>& again) {
  const auto projected = nn::linear_each(x, {q_proj_, k_proj_, v_proj_}, again);
  auto query = projected[0], key = projected[1];
  if (q_norm_) {
    query = q_norm_(split_heads(query, head_dim_)).flatten(2);
    key = k_norm_(split_heads(key, head_dim_)).flatten(2);
  }
  // Memory stays in the order in which products leave and take it.
  auto heads = nn::rotary_heads(query, key, projected[2], context.rotary, head_dim_);
  if (context.cache != nullptr)
    std::tie(heads.key, heads.value) = context.cache->append(layer_, heads.key, heads.value);
  const auto attended = nn::attention(heads.query, heads.key, heads.value, context.mask);
  return o_proj_(attended.transpose(1, 2).flatten(2));
}

GatedMLPImpl::GatedMLPImpl(const ModelSpec& spec, const at::TensorOptions& options) : Module("GatedMLP") {
  const int64_t width = spec.hidden_size;
  const int64_t inner = spec.intermediate_size;
  gate_proj_ = register_module("gate_proj", nn::Linear(width, inner, spec.mlp_bias, options));
  up_proj_ = register_module("up_proj", nn::Linear(width, inner, spec.mlp_bias, options));
  down_proj_ = register_module("down_proj", nn::Linear(inner, width, spec.mlp_bias, options));
}

at::Tensor GatedMLPImpl::forward(const at::Tensor& x, const std::optional<nn::MadeAgain>& again) {
  const auto projected = nn::linear_each(x, {gate_proj_, up_proj_}, again);
  return nn::swiglu_linear(projected[0], projected[1], down_proj_);
}

DecoderLayerImpl::DecoderLayerImpl(const ModelSpec& spec, int64_t layer, const at::TensorOptions& options)
    : Module("DecoderLayer") {
  const auto norm = [&] { return nn::RMSNorm(spec.hidden_size, spec.rms_norm_eps, options); };
  input_layernorm_ = register_module("input_layernorm", norm());
  self_attn_ = register_module("self_attn", Attention(spec, layer, options));
  post_attention_layernorm_ = register_module("post_attention_layernorm", norm());
  mlp_ = register_module("mlp", GatedMLP(spec, options));
}

ResidualStream DecoderLayerImpl::forward(const ResidualStream& x, const LayerContext& context) {
  // A norm that is a unit of its own is not gathered yet when the backward of what follows it runs.
  const auto again = [&](nn::RMSNorm& norm, const at::Tensor& h) {
    const bool may = context.norms_again && norm->forward_hooks() == nullptr;
    return may ? std::optional(norm->made_again(h)) : std::nullopt;
  };
  const auto [entered, normed] = add_and_norm(x, input_layernorm_);
  const auto branch = self_attn_(normed, context, again(input_layernorm_, entered));
  const auto [attended, normed_too] = post_attention_layernorm_(branch, entered);
  return {attended, mlp_(normed_too, again(post_attention_layernorm_, attended))};
}

DecoderImpl::DecoderImpl(const ModelSpec& spec, const at::TensorOptions& options)
    : Module("Decoder"), head_dim_(spec.head_dim), rope_theta_(spec.rope_theta) {
  embed_tokens = register_module("embed_tokens", nn::Embedding(spec.vocab_size, spec.hidden_size, options));
  torch::nn::ModuleList list;
  for (int64_t layer = 0; layer < spec.num_layers; ++layer) {
    layers_.emplace_back(spec, layer, options);
    list->push_back(layers_.back());
  }
  register_module("layers", list);
  norm_ = register_module("norm", nn::RMSNorm(spec.hidden_size, spec.rms_norm_eps, options));
}

at::Tensor DecoderImpl::forward(const at::Tensor& tokens, const at::Tensor& positions,
                                const at::Tensor& document_ids) {
  const auto device = embed_tokens->weight.device();
  const auto x = embed_tokens(nn::to_device(tokens, device));
  const auto place = nn::to_device(positions, device);
  return run_layers(x, {.rotary = nn::rotary_table(place, head_dim_, rope_theta_, x.scalar_type()),
                        .mask = nn::AttentionMask::documents(document_ids, x, head_dim_)});
}

at::Tensor DecoderImpl::forward(const at::Tensor& tokens, KeyValueCache& cache) {
  const int64_t seen = cache.length();
  const int64_t count = tokens.size(1);
  LOCKSTEP_CHECK(seen == 0 || count == 1) << count << " tokens after " << seen << " in the cache";
  const auto x = embed_tokens(tokens.to(embed_tokens->weight.device()));
  const auto place = at::arange(seen, seen + count, x.options().dtype(at::kLong)).unsqueeze(0);
  return run_layers(x, {.rotary = nn::rotary_table(place, head_dim_, rope_theta_, x.scalar_type()),
                        .mask = seen == 0 ? nn::AttentionMask::causal_rows() : nn::AttentionMask::none(),
                        .cache = &cache});
}

void DecoderImpl::set_recorder(std::shared_ptr<nn::Recorder> recorder) {
  recorder_ = std::move(recorder);
  parts_.assign(layers_.size(), {});
}

bool DecoderImpl::may_record(const at::Tensor& x, const LayerContext& context) {
  const bool is_small = x.size(0) * x.size(1) <= kRecordedTokens;
  if (!recorder_ || !recorder_->free() || !is_small || context.cache != nullptr) return false;
  std::string why;
  if (recompute_ == Recompute::kBlock) why = "layers are computed again in backward (sharding.recompute)";
  if (!context.mask.causal) why = "rows hold several documents, and attention's mask changes";
  for (const DecoderLayer& layer : layers_)
    if (has_hooks_inside(*layer)) why = "parts of a layer are units of their own (sharding.wrap)";
  if (!why.empty()) recorder_->pass_over(why);
  return why.empty();
}

ResidualStream DecoderImpl::recorded_layer(size_t index, const ResidualStream& x,
                                           const LayerContext& context) {
  DecoderLayer& layer = layers_[index];
  nn::Tensors inputs = tensors_of(x);
  const size_t carried = inputs.size();
  inputs.insert(inputs.end(), {context.rotary.cos, context.rotary.sin});
  const auto body = [layer = DecoderLayer(layer), carried,
                     norms_again = context.norms_again](const nn::Tensors& in) mutable {
    const LayerContext same{.rotary = {in[carried], in[carried + 1]},
                            .mask = nn::AttentionMask::causal_rows(),
                            .norms_again = norms_again};
    return tensors_of(layer->forward(residual_of(in, carried), same));
  };
  const auto out =
      layer->hooked([&] { return parts_[index].run(*recorder_, body, inputs, layer->parameters()); });
  return residual_of(out, out.size());
}

at::Tensor DecoderImpl::run_layers(const at::Tensor& x, LayerContext context) {
  context.norms_again = recompute_ == Recompute::kSelective;
  const bool record = may_record(x, context);
  if (record)
    context.rotary = {recorder_->lasting("cos", context.rotary.cos),
                      recorder_->lasting("sin", context.rotary.sin)};
  ResidualStream residual{x, {}};
  for (size_t i = 0; i < layers_.size(); ++i) {
    DecoderLayer& layer = layers_[i];
    residual = record                            ? recorded_layer(i, residual, context)
               : recompute_ == Recompute::kBlock ? recomputed_layer(layer, residual, context)
                                                 : layer(residual, context);
  }
  return std::get<1>(add_and_norm(residual, norm_));
}

}  // namespace lockstep::models
