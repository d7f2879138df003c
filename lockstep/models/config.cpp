#include "lockstep/models/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/models/config_keys.h"
#include "lockstep/models/json_file.h"

namespace lockstep::models {
namespace {

// Keeps every product of two sizes and an element's bytes inside int64.
constexpr int64_t kMaxSize = int64_t{1} << 28;
constexpr int64_t kMaxLayers = 10'000;

// Typed access to one config.json; a null value counts as absent, as in transformers.
class Keys {
 public:
  Keys(const Json& config, const std::string& origin) : config_(config), origin_(origin) {}

  const Json* find(std::string_view key) const {
    const auto found = config_.find(key);
    return found == config_.end() || found->is_null() ? nullptr : &*found;
  }

  int64_t size(std::string_view key, std::optional<int64_t> absent = std::nullopt,
               int64_t largest = kMaxSize) const {
    const Json* value = find(key);
    if (value == nullptr) {
      if (absent) return *absent;
      throw ConfigError(
          fmt::format("model: {}: {} is missing. Take the model's own config.json", origin_, key));
    }
    const bool positive = value->is_number_integer() && value->get<int64_t>() >= 1;
    if (!positive || value->get<int64_t>() > largest) {
      refuse_key(origin_, key, *value, fmt::format("must be a whole number from 1 to {}", largest));
    }
    return value->get<int64_t>();
  }

  double positive(std::string_view key, double absent) const {
    const Json* value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_number() || !(value->get<double>() > 0) || !std::isfinite(value->get<double>())) {
      refuse_key(origin_, key, *value, "must be a positive number");
    }
    return value->get<double>();
  }

  bool flag(std::string_view key, bool absent) const {
    const Json* value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_boolean()) refuse_key(origin_, key, *value, "must be true or false");
    return value->get<bool>();
  }

 private:
  const Json& config_;
  const std::string& origin_;
};

std::string read_model_type(const Json& config, const Keys& keys, const std::string& origin) {
  static const std::vector<std::pair<std::string, std::string>> kArchitectures = {
      {"llama", "LlamaForCausalLM"}, {"qwen2", "Qwen2ForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"}};
  const Json type = config.value("model_type", Json());
  const auto known = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const auto& entry) { return type == entry.first; });
  if (known == kArchitectures.end()) {
    refuse_key(origin, "model_type", type, "is not supported. Supported: llama, qwen2, qwen3");
  }
  const Json* architectures = keys.find("architectures");
  if (architectures != nullptr && !architectures->empty() && *architectures != Json::array({known->second})) {
    refuse_key(origin, "architectures", *architectures,
               fmt::format("is not supported: model_type {} is read as {}", known->first, known->second));
  }
  return known->first;
}

// The rotary base stands at the top level, or in rope_parameters as transformers 5 writes it.
double read_rope_theta(const Keys& keys, const std::string& origin) {
  constexpr double kDefaultTheta = 10000.0;
  std::optional<double> theta;
  if (keys.find("rope_theta") != nullptr) theta = keys.positive("rope_theta", kDefaultTheta);
  for (const char* group : {"rope_scaling", "rope_parameters"}) {
    const Json* value = keys.find(group);
    if (value == nullptr) continue;
    if (!value->is_object()) refuse_key(origin, group, *value, "must be an object");
    for (const auto& [key, entry] : value->items()) {
      const bool type_key = key == "rope_type" || key == "type";
      const bool neutral = (type_key && entry == "default") || key == "rope_theta" || entry.is_null() ||
                           (key == "partial_rotary_factor" && entry == 1);
      if (!neutral) {
        refuse_key(origin, group, *value,
                   "changes the rotary frequencies, which is not supported. "
                   "Use a model with rope_type default");
      }
    }
    const Keys inner(*value, origin);
    if (inner.find("rope_theta") == nullptr) continue;
    const double inner_theta = inner.positive("rope_theta", kDefaultTheta);
    if (theta && *theta != inner_theta) {
      refuse_key(
          origin, group, *value,
          fmt::format("contradicts rope_theta = {}. Keep the one that the model was trained with", *theta));
    }
    theta = inner_theta;
  }
  return theta.value_or(kDefaultTheta);
}

void check_layer_types(const Keys& keys, const std::string& origin) {
  const Json* types = keys.find("layer_types");
  if (types == nullptr) return;
  for (const Json& type : *types) {
    if (type != "full_attention") {
      refuse_key(origin, "layer_types", *types, "is not supported. Every layer must be full_attention");
    }
  }
}

void read_biases(const Keys& keys, const std::string& origin, ModelSpec& spec) {
  const bool qwen2 = spec.model_type == "qwen2";
  // Qwen2 has biases on q, k and v and none on o, whatever the config says.
  const bool attention_bias = keys.flag("attention_bias", qwen2);
  if (qwen2 && !attention_bias) {
    refuse_key(origin, "attention_bias", false,
               "contradicts model_type qwen2, which always has q, k and v biases");
  }
  spec.qkv_bias = attention_bias;
  spec.output_bias = attention_bias && !qwen2;
  spec.mlp_bias = keys.flag("mlp_bias", false);
  if (spec.mlp_bias && spec.model_type != "llama") {
    refuse_key(origin, "mlp_bias", true, fmt::format("is not supported with model_type {}", spec.model_type));
  }
}

std::vector<int64_t> read_token_ids(const Keys& keys, std::string_view key, const std::string& origin) {
  const Json* value = keys.find(key);
  if (value == nullptr) return {};
  const Json list = value->is_array() ? *value : Json::array({*value});
  std::vector<int64_t> ids;
  for (const Json& id : list) {
    if (!id.is_number_integer()) refuse_key(origin, key, *value, "must be a token id or a list of them");
    ids.push_back(id.get<int64_t>());
  }
  return ids;
}

void read_heads(const Keys& keys, const std::string& origin, ModelSpec& spec) {
  spec.num_heads = keys.size("num_attention_heads");
  spec.num_kv_heads = keys.size("num_key_value_heads", spec.num_heads);
  if (spec.num_heads % spec.num_kv_heads != 0) {
    refuse_key(origin, "num_key_value_heads", spec.num_kv_heads,
               fmt::format("must divide num_attention_heads = {}", spec.num_heads));
  }
  constexpr int64_t kQwen3HeadDim = 128;  // whatever the width
  const bool explicit_dim = keys.find("head_dim") != nullptr || spec.model_type == "qwen3";
  if (!explicit_dim && spec.hidden_size % spec.num_heads != 0) {
    refuse_key(origin, "num_attention_heads", spec.num_heads,
               fmt::format("must divide hidden_size = {}, or head_dim must be given", spec.hidden_size));
  }
  spec.head_dim =
      keys.size("head_dim", spec.model_type == "qwen3" ? kQwen3HeadDim : spec.hidden_size / spec.num_heads);
  if (spec.head_dim % 2 != 0) {
    refuse_key(origin, "head_dim", spec.head_dim, "must be even: rotary embedding turns pairs of channels");
  }
  if (spec.query_width() > kMaxSize) {
    refuse_key(origin, "head_dim", spec.head_dim,
               fmt::format("times {} heads must be at most {}", spec.num_heads, kMaxSize));
  }
}

}  // namespace

ModelSpec ModelSpec::parse(std::string_view text, const std::string& origin) {
  Json config = parse_json(text, origin);
  const Keys keys(config, origin);
  ModelSpec spec;
  spec.model_type = read_model_type(config, keys, origin);
  refuse_unsupported_keys(config, origin);
  check_layer_types(keys, origin);
  spec.vocab_size = keys.size("vocab_size");
  spec.hidden_size = keys.size("hidden_size");
  spec.intermediate_size = keys.size("intermediate_size");
  spec.num_layers = keys.size("num_hidden_layers", std::nullopt, kMaxLayers);
  read_heads(keys, origin, spec);
  spec.max_positions = keys.size("max_position_embeddings", spec.model_type == "llama" ? 2048 : 32768);
  spec.rms_norm_eps = keys.positive("rms_norm_eps", 1e-6);
  spec.rope_theta = read_rope_theta(keys, origin);
  spec.initializer_range = keys.positive("initializer_range", 0.02);
  read_biases(keys, origin, spec);
  spec.qk_norm = spec.model_type == "qwen3";
  spec.tie_word_embeddings = keys.flag("tie_word_embeddings", false);
  spec.eos_token_ids = read_token_ids(keys, "eos_token_id", origin);
  for (const auto& [key, value] : config.items()) {
    if (!is_known_key(key)) spec.unknown_keys.push_back(key);
  }
  spec.config = std::move(config);
  return spec;
}

void ModelSpec::require_vocabulary(int64_t size, const std::string& folder) const {
  if (size <= vocab_size) return;
  throw ConfigError(fmt::format(
      "model: {}: the tokenizer has {} ids, but vocab_size = {} in config.json. Take tokenizer and weights "
      "from the same model",
      folder, size, vocab_size));
}

ModelSpec ModelSpec::load(const std::string& folder) {
  const std::string path = folder + "/config.json";
  return parse(read_text(path), path);
}

}  // namespace lockstep::models
