// The Rust library's tokenizer as a C++ value. Const calls are safe from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/text/tokenizer.h"

struct LockstepTextTokenizer;  // rust/text/include/lockstep_text.h

namespace lockstep::text {

// A token and the bytes of the text that it covers, [begin, end).
struct PlacedToken {
  TokenId id;
  size_t begin;
  size_t end;
};

class RustTokenizer {
 public:
  // `json` is what `path` holds; `path` is for the message alone. Throws ConfigError.
  RustTokenizer(const std::string& json, const std::string& path);

  // Both throw DataError for text that is not UTF-8.
  std::vector<TokenId> encode(std::string_view text, bool add_special_tokens) const;
  std::vector<PlacedToken> encode_with_places(std::string_view text, bool add_special_tokens) const;

  // Ids must not be negative (CHECK); those outside the vocabulary are passed over.
  std::string decode(const std::vector<TokenId>& ids, bool skip_special_tokens) const;

  int64_t vocab_size() const;
  std::optional<TokenId> token_id(std::string_view token) const;
  bool is_special(TokenId id) const;

 private:
  struct Free {
    void operator()(LockstepTextTokenizer* tokenizer) const;
  };
  std::unique_ptr<LockstepTextTokenizer, Free> handle_;
};

}  // namespace lockstep::text
