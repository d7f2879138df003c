#include "lockstep/models/config_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/models/json_file.h"

namespace lockstep::models {
namespace {

struct Rule {
  std::string_view key;
  std::vector<Json> neutral;  // values that change nothing; null is always one
  std::string_view changes;   // what any other value changes
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      // Positions.
      {"partial_rotary_factor", {1}, "rotates a part of each head"},
      {"rotary_pct", {1}, "rotates a part of each head"},
      {"rope_interleaved", {false}, "pairs neighbouring channels in the rotary embedding"},
      {"rope_local_base_freq", {}, "gives some layers another rotary base"},
      {"no_rope_layers", {Json::array()}, "leaves some layers without rotary embedding"},
      {"no_rope_layer_interval", {}, "leaves some layers without rotary embedding"},
      {"use_mrope", {false}, "uses rotary embedding in several dimensions"},
      {"alibi", {false}, "biases attention by distance"},
      // Attention.
      {"use_sliding_window", {false}, "limits how far back attention looks"},
      {"attention_chunk_size", {}, "limits how far back attention looks"},
      {"attention_dropout", {0}, "drops attention weights while training"},
      {"attn_logit_softcapping", {}, "caps attention scores"},
      {"query_pre_attn_scalar", {}, "scales attention scores"},
      {"attention_multiplier", {}, "scales attention scores"},
      {"attention_scale", {}, "scales attention scores"},
      {"clip_qkv", {}, "clips queries, keys and values"},
      {"use_qk_norm", {false}, "normalizes queries and keys"},
      {"qk_norm", {false}, "normalizes queries and keys"},
      {"qk_layernorm", {false}, "normalizes queries and keys"},
      {"kv_lora_rank", {}, "compresses keys and values"},
      {"q_lora_rank", {}, "compresses queries"},
      // Blocks.
      {"hidden_act", {"silu", "swish"}, "uses another activation"},
      {"hidden_activation", {"silu", "swish"}, "uses another activation"},
      {"resid_pdrop", {0}, "drops activations while training"},
      {"embd_pdrop", {0}, "drops activations while training"},
      {"hidden_dropout", {0}, "drops activations while training"},
      {"parallel_attn", {false}, "runs attention and MLP side by side"},
      {"use_parallel_residual", {false}, "runs attention and MLP side by side"},
      {"norm_bias", {false}, "adds a bias in the norms"},
      // Scaling.
      {"embedding_multiplier", {1}, "scales the embedding"},
      {"scale_emb", {1}, "scales the embedding"},
      {"residual_multiplier", {1}, "scales the residual branches"},
      {"scale_depth", {}, "scales the residual branches"},
      {"logits_scaling", {1}, "scales the logits"},
      {"logit_scale", {1}, "scales the logits"},
      {"dim_model_base", {}, "scales the logits"},
      {"final_logit_softcapping", {}, "caps the logits"},
      {"logit_softcapping", {}, "caps the logits"},
      // Experts.
      {"num_experts", {0, 1}, "routes tokens to experts"},
      {"num_local_experts", {0, 1}, "routes tokens to experts"},
      {"n_routed_experts", {0, 1}, "routes tokens to experts"},
      {"num_experts_per_tok", {0}, "routes tokens to experts"},
      {"moe_intermediate_size", {}, "routes tokens to experts"},
      // Storage and kind of model.
      {"quantization_config", {}, "stores quantized weights"},
      {"compression_config", {}, "stores compressed weights"},
      {"is_encoder_decoder", {false}, "adds an encoder"},
      {"add_cross_attention", {false}, "adds cross-attention"},
      {"vision_config", {}, "adds a vision tower"},
      {"text_config", {}, "wraps a text model"},
  };
  return kRules;
}

// Read by ModelSpec, or about files, generation and the library that wrote them.
constexpr std::string_view kHarmlessKeys[] = {
    // Read.
    "model_type", "architectures", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
    "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings", "rms_norm_eps",
    "rope_theta", "rope_scaling", "rope_parameters", "initializer_range", "attention_bias", "mlp_bias",
    "tie_word_embeddings", "eos_token_id", "layer_types",
    // Windows that use_sliding_window turns on, and that is refused.
    "sliding_window", "max_window_layers",
    // Other tokens, dtypes, versions, custom code.
    "bos_token_id", "pad_token_id", "torch_dtype", "dtype", "transformers_version", "auto_map",
    "task_specific_params", "transformers.js_config", "is_llama_config", "name_or_path",
    "original_max_position_embeddings",
    // How the reference library runs the same mathematics, and what it returns.
    "use_cache", "pretraining_tp", "output_attentions", "output_hidden_states", "return_dict",
    "gradient_checkpointing", "problem_type", "id2label", "label2id", "num_labels", "chunk_size_feed_forward",
    "is_decoder", "tokenizer_class", "prefix", "finetuning_task", "use_return_dict", "tie_encoder_decoder",
    "cross_attention_hidden_size", "pruned_heads", "sep_token_id", "decoder_start_token_id", "torchscript",
    "tf_legacy_loss", "use_bfloat16",
    // Generation settings that older versions kept here.
    "max_length", "min_length", "do_sample", "temperature", "top_k", "top_p", "typical_p", "num_beams",
    "num_beam_groups", "num_return_sequences", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "diversity_penalty", "early_stopping", "bad_words_ids", "suppress_tokens",
    "begin_suppress_tokens", "forced_bos_token_id", "forced_eos_token_id", "exponential_decay_length_penalty",
    "remove_invalid_values", "return_dict_in_generate", "output_scores"};

bool is_neutral(const Json& value, const std::vector<Json>& neutral) {
  return value.is_null() || std::find(neutral.begin(), neutral.end(), value) != neutral.end();
}

}  // namespace

void refuse_key(const std::string& origin, std::string_view key, const Json& value, std::string_view why) {
  throw ConfigError(fmt::format("model: {}: {} = {} {}", origin, key, json_words(value), why));
}

void refuse_unsupported_keys(const Json& config, const std::string& origin) {
  for (const Rule& rule : rules()) {
    const auto found = config.find(rule.key);
    if (found == config.end() || is_neutral(*found, rule.neutral)) continue;
    refuse_key(origin, rule.key, *found,
               fmt::format("{}, which is not supported. Use a Llama, Qwen2 or Qwen3 model without it",
                           rule.changes));
  }
}

bool is_known_key(std::string_view key) {
  if (key.starts_with('_')) return true;  // written by transformers for itself
  const auto is_key = [&](const Rule& rule) { return rule.key == key; };
  return std::any_of(rules().begin(), rules().end(), is_key) ||
         std::find(std::begin(kHarmlessKeys), std::end(kHarmlessKeys), key) != std::end(kHarmlessKeys);
}

}  // namespace lockstep::models
