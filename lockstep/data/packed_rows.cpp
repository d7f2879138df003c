#include "lockstep/data/packed_rows.h"

#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/data/permutation.h"

namespace lockstep::data {

PackedRows::PackedRows(std::shared_ptr<const TokenStore> store, std::vector<Piece> pieces,
                       std::vector<PackedRow> rows, int64_t sequence_length)
    : store_(std::move(store)),
      pieces_(std::move(pieces)),
      rows_(std::move(rows)),
      sequence_length_(sequence_length) {}

int64_t PackedRows::trained_tokens(int64_t row) const {
  int64_t targets = 0;
  for (const int64_t piece : rows_.at(row)) targets += pieces_[piece].targets;
  return targets;
}

void PackedRows::fill(int64_t row, RowView out) const {
  int64_t at = 0;
  int32_t document_id = 0;
  for (const int64_t piece : rows_.at(row)) {
    write_piece(*store_, pieces_[piece], out, at, document_id++);
    at += pieces_[piece].length;
  }
  pad_row(out, at);
}

ShuffledRows::ShuffledRows(std::shared_ptr<const PackedRows> pass, uint64_t seed)
    : pass_(std::move(pass)), seed_(seed) {
  LOCKSTEP_CHECK(pass_->rows() > 0);
}

int64_t ShuffledRows::row_of_pass(int64_t row) const {
  LOCKSTEP_CHECK(row >= 0) << "row " << row;
  const int64_t epoch = row / rows_per_epoch();
  const std::lock_guard lock(mutex_);
  Order& order = orders_[epoch % 2];
  if (order.epoch != epoch) order = {epoch, permutation(rows_per_epoch(), seed_, uint64_t(epoch))};
  return order.rows[row % rows_per_epoch()];
}

}  // namespace lockstep::data
