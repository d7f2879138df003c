#include "lockstep/text/rust_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/text/rust_string.h"

namespace lockstep::text {
namespace {

class Tokens {
 public:
  Tokens(const LockstepTextTokenizer* tokenizer, std::string_view text, bool add_special_tokens,
         bool with_offsets) {
    LockstepTextString error;
    if (!lockstep_text_encode(tokenizer, text.data(), text.size(), add_special_tokens, with_offsets, &tokens_,
                              &error))
      throw DataError(
          fmt::format("tokenizer: cannot encode a text of {} bytes: {}", text.size(), take(error)));
  }
  ~Tokens() { lockstep_text_tokens_free(tokens_); }
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;

  size_t size() const { return tokens_.size; }
  const LockstepTextToken* begin() const { return tokens_.data; }
  const LockstepTextToken* end() const { return tokens_.data + tokens_.size; }

 private:
  LockstepTextTokens tokens_{};
};

}  // namespace

void RustTokenizer::Free::operator()(LockstepTextTokenizer* tokenizer) const {
  lockstep_text_tokenizer_free(tokenizer);
}

RustTokenizer::RustTokenizer(const std::string& json, const std::string& path) {
  LockstepTextTokenizer* handle = nullptr;
  LockstepTextString error;
  if (!lockstep_text_tokenizer_new(json.data(), json.size(), &handle, &error))
    throw ConfigError(fmt::format("{}: not a tokenizer that can be read: {}", path, take(error)));
  handle_.reset(handle);
}

std::vector<TokenId> RustTokenizer::encode(std::string_view text, bool add_special_tokens) const {
  const Tokens tokens(handle_.get(), text, add_special_tokens, /*with_offsets=*/false);
  std::vector<TokenId> ids(tokens.size());
  std::transform(tokens.begin(), tokens.end(), ids.begin(),
                 [](const LockstepTextToken& token) { return static_cast<TokenId>(token.id); });
  return ids;
}

std::vector<PlacedToken> RustTokenizer::encode_with_places(std::string_view text,
                                                           bool add_special_tokens) const {
  const Tokens tokens(handle_.get(), text, add_special_tokens, /*with_offsets=*/true);
  std::vector<PlacedToken> placed(tokens.size());
  std::transform(tokens.begin(), tokens.end(), placed.begin(), [](const LockstepTextToken& token) {
    return PlacedToken{static_cast<TokenId>(token.id), token.begin, token.end};
  });
  return placed;
}

std::string RustTokenizer::decode(const std::vector<TokenId>& ids, bool skip_special_tokens) const {
  const bool negative = std::any_of(ids.begin(), ids.end(), [](TokenId id) { return id < 0; });
  LOCKSTEP_CHECK(!negative) << "token ids to decode are 0 or more";
  const std::vector<uint32_t> unsigned_ids(ids.begin(), ids.end());
  LockstepTextString text;
  LockstepTextString error;
  if (!lockstep_text_decode(handle_.get(), unsigned_ids.data(), unsigned_ids.size(), skip_special_tokens,
                            &text, &error))
    throw DataError(fmt::format("tokenizer: cannot decode {} ids: {}", ids.size(), take(error)));
  return take(text);
}

int64_t RustTokenizer::vocab_size() const {
  return static_cast<int64_t>(lockstep_text_vocab_size(handle_.get()));
}

std::optional<TokenId> RustTokenizer::token_id(std::string_view token) const {
  uint32_t id = 0;
  if (!lockstep_text_token_id(handle_.get(), token.data(), token.size(), &id)) return std::nullopt;
  return static_cast<TokenId>(id);
}

bool RustTokenizer::is_special(TokenId id) const {
  return lockstep_text_is_special(handle_.get(), static_cast<uint32_t>(id));
}

}  // namespace lockstep::text
