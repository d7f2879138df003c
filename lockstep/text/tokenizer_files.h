// What a Hugging Face folder says about its tokenizer, read and checked but not yet compiled.
#pragma once

#include <map>
#include <string>

namespace lockstep::text {

struct TokenizerFiles {
  std::string tokenizer_path;
  std::string tokenizer_json;

  // "bos_token", "eos_token", "pad_token", ... → the token's text.
  std::map<std::string, std::string> special_tokens;

  // Name → Jinja source; a lone template is called "default". Empty: the model has none.
  // A chat_template.jinja (and additional_chat_templates/NAME.jinja beside it) replaces
  // whatever tokenizer_config.json holds.
  std::map<std::string, std::string> chat_templates;
  std::string chat_templates_path;  // where they were found
};

// Reads tokenizer.json (required), tokenizer_config.json, special_tokens_map.json (for folders
// whose config names no tokens), chat_template.jinja and additional_chat_templates/.
// Throws ConfigError with the file's name.
TokenizerFiles read_tokenizer_files(const std::string& folder);

}  // namespace lockstep::text
