// A Hugging Face tokenizer and chat template, exactly as `tokenizers` and `transformers`
// behave, through the Rust library in rust/text. No torch here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::text {

using TokenId = int32_t;

// Which tokens of a chat are targets: what the assistant said and its ends of turn, or all.
enum class TrainOn { kAssistant, kAll };

struct RenderedChat {
  std::string text;
  std::vector<TokenId> ids;
  std::vector<uint8_t> trained;  // same length as ids; 1 = a target
};

// Const calls are safe from several threads.
class Tokenizer {
 public:
  // `folder` holds tokenizer.json, and tokenizer_config.json / chat_template.jinja if any.
  // Throws ConfigError naming the file and what is wrong in it.
  static std::unique_ptr<Tokenizer> from_pretrained(const std::string& folder);
  ~Tokenizer();

  // Plain text. With `add_special_tokens` the post-processor's own (BOS and such).
  std::vector<TokenId> encode(const std::string& text, bool add_special_tokens = true) const;
  std::string decode(const std::vector<TokenId>& ids, bool skip_special_tokens = false) const;

  // Renders `messages` (Hugging Face's list of {role, content, ...}; a null is as good as absent)
  // with the chat template and tokenizes once, without adding a second BOS. Marks what the
  // assistant said: by the template's {% generation %} blocks if it has any, else by the
  // difference between the rendered prefixes (assistant_spans.h); content and end-of-turn token
  // are trained, headers never. Throws DataError when the template refuses the messages or the
  // mask would be ambiguous, ConfigError when there is no template or it does not parse.
  RenderedChat render_chat(const Json& messages, const Json& tools = nullptr,
                           TrainOn train_on = TrainOn::kAssistant) const;
  // The text alone, with the assistant's header appended: a prompt to generate from, to be
  // encoded without special tokens.
  std::string render_prompt(const Json& messages, const Json& tools = nullptr) const;

  bool has_chat_template() const;
  int64_t vocab_size() const;  // highest id + 1, added tokens included
  std::optional<TokenId> token_id(const std::string& token) const;
  std::optional<TokenId> bos_id() const;
  std::optional<TokenId> eos_id() const;  // tokenizer_config.json's eos_token
  std::optional<TokenId> pad_id() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::text
