// What the tests of this folder share: small files, a tokenizer, rows as vectors.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/row.h"
#include "lockstep/text/tokenizer.h"
#include "tests/paths.h"

namespace lockstep::data {

// Under tests/data.
inline std::string input(const std::string& name) { return test_data(name); }

// A file in the test's own temporary folder; returns its path. One line each.
std::string write_lines(const std::string& name, const std::vector<std::string>& lines);

// One token a character, eos 0: "abc" is 2 3 4.
const text::Tokenizer& character_tokenizer();
constexpr int64_t kCharacterVocabulary = 32;

// A chat tokenizer whose template puts nothing around a turn but <|im_start|>role\n and
// <|im_end|>\n, and whose padding token is the end of a turn (public case T10).
const text::Tokenizer& chat_tokenizer();
constexpr int64_t kChatVocabulary = 384;

// Text in `path`, one step of one row, everything else by default.
Recipe text_recipe(const std::string& path, int64_t sequence_length);
Recipe chat_recipe(const std::string& path, int64_t sequence_length);

struct HostRow {
  explicit HostRow(int64_t length)
      : tokens(length, -7), positions(length, -7), document_ids(length, -7), targets(length, -7) {}
  RowView view() { return {tokens, positions, document_ids, targets}; }
  std::vector<int64_t> tokens, positions;
  std::vector<int32_t> document_ids;
  std::vector<int64_t> targets;
};

HostRow filled_row(const RowSource& source, int64_t row);

// What `body` throws as an Error of type E; fails the test when it throws nothing of the kind.
template <typename E>
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "(no such error was thrown)";
}

}  // namespace lockstep::data
