#include "lockstep/data/token_store.h"

#include "lockstep/base/check.h"

namespace lockstep::data {

void TokenStore::add(const Sample& sample) {
  LOCKSTEP_CHECK(sample.trained.size() == sample.ids.size())
      << sample.trained.size() << " != " << sample.ids.size();
  ids_.insert(ids_.end(), sample.ids.begin(), sample.ids.end());
  trained_.insert(trained_.end(), sample.trained.begin(), sample.trained.end());
  ends_.push_back(int64_t(ids_.size()));
  hashes_.push_back(sample.content_hash);
}

void write_piece(const TokenStore& store, const Piece& piece, RowView row, int64_t at, int32_t document_id) {
  for (int64_t j = 0; j < piece.length; ++j) {
    const int64_t next = piece.begin + j + 1;
    row.tokens[at + j] = store.token(piece.begin + j);
    row.positions[at + j] = j;
    row.document_ids[at + j] = document_id;
    row.targets[at + j] = next < piece.targets_end && store.trained(next) ? store.token(next) : kNoTarget;
  }
}

}  // namespace lockstep::data
