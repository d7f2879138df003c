// All samples' tokens in one block of memory, and pieces of them that fit a row.
// T = sequence_length.
//
// Memory: 5 bytes a token, 16 a sample, 24 a piece, on every rank.
#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/data/row.h"
#include "lockstep/data/sample_reader.h"

namespace lockstep::data {

class TokenStore {
 public:
  void add(const Sample& sample);

  int64_t samples() const { return int64_t(ends_.size()); }
  int64_t begin(int64_t sample) const {
    return sample == 0 ? 0 : ends_[sample - 1];
  }  // its first token's index
  int64_t end(int64_t sample) const { return ends_[sample]; }
  uint64_t content_hash(int64_t sample) const { return hashes_[sample]; }
  text::TokenId token(int64_t index) const { return ids_[index]; }
  bool trained(int64_t index) const { return trained_[index] != 0; }

 private:
  std::vector<text::TokenId> ids_;
  std::vector<uint8_t> trained_;
  std::vector<int64_t> ends_;
  std::vector<uint64_t> hashes_;
};

// Tokens [begin, begin + length) of the store, all of one sample. Position j predicts token
// begin + j + 1 if that lies before `targets_end` and is trained.
struct Piece {
  int64_t begin = 0;
  int64_t targets_end = 0;
  int32_t length = 0;
  int32_t targets = 0;  // positions that predict something
};

// Writes the piece into positions [at, at + piece.length) of `row`, as document
// `document_id`, its positions counted from 0.
void write_piece(const TokenStore& store, const Piece& piece, RowView row, int64_t at, int32_t document_id);

}  // namespace lockstep::data
