// What a Hugging Face config.json says about a decoder of the Llama family, as plain numbers.
//
// Read: Llama (Llama 2, SmolLM2), Qwen2 and Qwen2.5, Qwen3 (dense). A key that changes the mathematics and is
// not supported is refused by name; the tables are in config_keys.h. Defaults of absent keys are those of
// Hugging Face transformers for the model type. docs/models.md lists every key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::models {

struct ModelSpec {
  std::string model_type;         // llama | qwen2 | qwen3
  int64_t vocab_size = 0;         // V
  int64_t hidden_size = 0;        // D
  int64_t intermediate_size = 0;  // width inside the MLP
  int64_t num_layers = 0;
  int64_t num_heads = 0;     // query heads, H
  int64_t num_kv_heads = 0;  // key-value heads, a divisor of H
  int64_t head_dim = 0;      // channels a head; D need not be H * head_dim
  int64_t max_positions = 0;
  double rms_norm_eps = 0;
  double rope_theta = 0;
  double initializer_range = 0;  // standard deviation of random weights
  bool qkv_bias = false;         // on q_proj, k_proj and v_proj
  bool output_bias = false;      // on o_proj
  bool mlp_bias = false;         // on gate_proj, up_proj and down_proj
  bool qk_norm = false;          // RMSNorm over each query and key head (Qwen3)
  bool tie_word_embeddings = false;
  std::vector<int64_t> eos_token_ids;

  Json config;                            // the file itself, for export
  std::vector<std::string> unknown_keys;  // in neither table: not read, worth a warning

  // Reads `folder`/config.json. Throws ConfigError with file, key, value and way out.
  static ModelSpec load(const std::string& folder);
  // The same from text; `origin` stands in messages for the file name.
  static ModelSpec parse(std::string_view text, const std::string& origin);

  // Throws ConfigError when a tokenizer with ids 0 .. size - 1 has ids that the model does not.
  void require_vocabulary(int64_t size, const std::string& folder) const;

  int64_t query_width() const { return num_heads * head_dim; }
  int64_t key_value_width() const { return num_kv_heads * head_dim; }
};

}  // namespace lockstep::models
