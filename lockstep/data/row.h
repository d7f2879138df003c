// One row of a batch as memory to write into, and the marks that stand for "nothing here".
// T = sequence_length.
#pragma once

#include <cstdint>
#include <span>

#include "lockstep/text/tokenizer.h"

namespace lockstep::data {

constexpr int64_t kNoTarget = -100;         // the position predicts nothing
constexpr int32_t kPaddingDocument = -1;    // the position belongs to no document
constexpr text::TokenId kPaddingToken = 0;  // in every vocabulary; no mask is derived from it

// [T] each, in the tensors of a batch. The meaning of the fields: batch.h.
struct RowView {
  std::span<int64_t> tokens;
  std::span<int64_t> positions;
  std::span<int32_t> document_ids;
  std::span<int64_t> targets;
};

// Fills the row from position `begin` to its end with padding.
void pad_row(RowView row, int64_t begin);

// A source of rows by number. Thread-safe: streams of one process share it.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t sequence_length() const = 0;
  // Targets other than kNoTarget in the row: known without filling it.
  virtual int64_t trained_tokens(int64_t row) const = 0;
  // Writes every element of `out`, whose spans hold sequence_length() elements.
  virtual void fill(int64_t row, RowView out) const = 0;
};

}  // namespace lockstep::data
