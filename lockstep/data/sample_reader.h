// From a record to tokens and the mask of what is trained.
//
//   data.shape  record                                       tokens                  trained
//   text        {"text": "..."}                              the text, then eos      all
//   messages    {"messages": [{"role", "content"}, ...],     the chat template's,    assistant turns with
//   their
//                "tools": [...]}                             nothing added           end token, or all
//                (train_on)
//
// A text gets the tokenizer's special tokens, and its eos token at the end if it has one and
// the text does not end with it already: a model that never sees an end never stops.
//
// A field that is null is absent, at any depth (columnar formats write every field that any
// record has); null never reaches a template. A message without content has the empty
// content if it calls tools, and is refused otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/recipe.h"
#include "lockstep/text/tokenizer.h"

namespace lockstep::data {

struct Sample {
  std::vector<text::TokenId> ids;
  std::vector<uint8_t> trained;  // as long as ids; 1: a token to learn
  uint64_t content_hash = 0;     // of the record's fields, whatever their order, its place or the tokenizer
};

class SampleReader {
 public:
  // `tokenizer` must outlive the reader. Throws ConfigError for a shape or train_on that is
  // not supported, and for messages without a chat template.
  SampleReader(const DataConfig& config, const text::Tokenizer& tokenizer);

  // `place` starts the message of every DataError (record_place).
  Sample read(const Json& record, const std::string& place) const;

 private:
  Sample read_text(const Json& record, const std::string& place) const;
  Sample read_messages(const Json& record, const std::string& place) const;

  const text::Tokenizer& tokenizer_;
  bool is_text_;
  bool trains_all_;
};

}  // namespace lockstep::data
