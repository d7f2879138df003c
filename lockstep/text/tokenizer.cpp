#include "lockstep/text/tokenizer.h"

#include <map>

#include "lockstep/base/error.h"
#include "lockstep/text/assistant_spans.h"
#include "lockstep/text/chat_context.h"
#include "lockstep/text/chat_template_set.h"
#include "lockstep/text/rust_tokenizer.h"
#include "lockstep/text/tokenizer_files.h"
#include "lockstep/text/trained_mask.h"

namespace lockstep::text {

struct Tokenizer::Impl {
  explicit Impl(const TokenizerFiles& files)
      : tokenizer(files.tokenizer_json, files.tokenizer_path),
        special_tokens(files.special_tokens),
        chat_templates(files.chat_templates, files.chat_templates_path) {}

  std::optional<TokenId> named_token(const std::string& name) const {
    const auto token = special_tokens.find(name);
    if (token == special_tokens.end()) return std::nullopt;
    return tokenizer.token_id(token->second);
  }

  RenderedText render(const Json& messages, const Json& tools, bool add_generation_prompt) const {
    return chat_templates.choose(!tools.is_null())
        .render(chat_context(messages, tools, add_generation_prompt, special_tokens));
  }

  // The template may refuse a part of a chat that it takes whole.
  std::optional<std::string> render_part(const Json& messages, const Json& tools,
                                         bool add_generation_prompt) const {
    try {
      return render(messages, tools, add_generation_prompt).text;
    } catch (const DataError&) {
      return std::nullopt;
    }
  }

  std::vector<uint8_t> assistant_mask(const Json& messages, const Json& tools, const RenderedText& rendered,
                                      const std::vector<PlacedToken>& tokens) const {
    if (chat_templates.choose(!tools.is_null()).marks_generation())
      return mask_of_generated(tokens, rendered.generated);
    const Render render = [&](const Json& part, bool add_generation_prompt) {
      return render_part(part, tools, add_generation_prompt);
    };
    const auto spans = assistant_spans(messages, rendered.text, tokens, render, tokenizer);
    return mask_of_turns(rendered.text, tokens, spans, tokenizer);
  }

  RustTokenizer tokenizer;
  std::map<std::string, std::string> special_tokens;
  ChatTemplateSet chat_templates;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::from_pretrained(const std::string& folder) {
  auto impl = std::make_unique<Impl>(read_tokenizer_files(folder));
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(impl)));
}

std::vector<TokenId> Tokenizer::encode(const std::string& text, bool add_special_tokens) const {
  return impl_->tokenizer.encode(text, add_special_tokens);
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids, bool skip_special_tokens) const {
  return impl_->tokenizer.decode(ids, skip_special_tokens);
}

RenderedChat Tokenizer::render_chat(const Json& given_messages, const Json& tools, TrainOn train_on) const {
  const Json messages = normalized_messages(given_messages);
  RenderedText rendered = impl_->render(messages, tools, /*add_generation_prompt=*/false);
  // The template wrote the special tokens, BOS too: the post-processor must not add them again.
  const auto tokens = impl_->tokenizer.encode_with_places(rendered.text, /*add_special_tokens=*/false);

  RenderedChat chat;
  for (const PlacedToken& token : tokens) chat.ids.push_back(token.id);
  chat.trained = train_on == TrainOn::kAll ? std::vector<uint8_t>(tokens.size(), 1)
                                           : impl_->assistant_mask(messages, tools, rendered, tokens);
  chat.text = std::move(rendered.text);
  return chat;
}

std::string Tokenizer::render_prompt(const Json& messages, const Json& tools) const {
  return impl_->render(normalized_messages(messages), tools, /*add_generation_prompt=*/true).text;
}

bool Tokenizer::has_chat_template() const { return !impl_->chat_templates.empty(); }

int64_t Tokenizer::vocab_size() const { return impl_->tokenizer.vocab_size(); }

std::optional<TokenId> Tokenizer::token_id(const std::string& token) const {
  return impl_->tokenizer.token_id(token);
}

std::optional<TokenId> Tokenizer::bos_id() const { return impl_->named_token("bos_token"); }

std::optional<TokenId> Tokenizer::eos_id() const { return impl_->named_token("eos_token"); }

std::optional<TokenId> Tokenizer::pad_id() const { return impl_->named_token("pad_token"); }

}  // namespace lockstep::text
