#include "lockstep/text/tokenizer.h"

#include <map>

#include "lockstep/text/rust_tokenizer.h"
#include "lockstep/text/tokenizer_files.h"

namespace lockstep::text {

struct Tokenizer::Impl {
  explicit Impl(const TokenizerFiles& files)
      : tokenizer(files.tokenizer_json, files.tokenizer_path),
        special_tokens(files.special_tokens),
        chat_templates(files.chat_templates) {}

  std::optional<TokenId> named_token(const std::string& name) const {
    const auto token = special_tokens.find(name);
    if (token == special_tokens.end()) return std::nullopt;
    return tokenizer.token_id(token->second);
  }

  RustTokenizer tokenizer;
  std::map<std::string, std::string> special_tokens;
  std::map<std::string, std::string> chat_templates;
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

bool Tokenizer::has_chat_template() const { return !impl_->chat_templates.empty(); }

int64_t Tokenizer::vocab_size() const { return impl_->tokenizer.vocab_size(); }

std::optional<TokenId> Tokenizer::token_id(const std::string& token) const {
  return impl_->tokenizer.token_id(token);
}

std::optional<TokenId> Tokenizer::bos_id() const { return impl_->named_token("bos_token"); }

std::optional<TokenId> Tokenizer::eos_id() const { return impl_->named_token("eos_token"); }

std::optional<TokenId> Tokenizer::pad_id() const { return impl_->named_token("pad_token"); }

}  // namespace lockstep::text
