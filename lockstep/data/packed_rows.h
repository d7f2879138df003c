// Rows of packed pieces: one pass over a split of the data, and the endless order of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lockstep/data/pack.h"
#include "lockstep/data/row.h"
#include "lockstep/data/token_store.h"

namespace lockstep::data {

// One pass, row by row in packing order. Documents of a row are numbered from 0.
class PackedRows : public RowSource {
 public:
  PackedRows(std::shared_ptr<const TokenStore> store, std::vector<Piece> pieces, std::vector<PackedRow> rows,
             int64_t sequence_length);

  int64_t rows() const { return int64_t(rows_.size()); }
  int64_t sequence_length() const override { return sequence_length_; }
  int64_t trained_tokens(int64_t row) const override;
  void fill(int64_t row, RowView out) const override;

 private:
  std::shared_ptr<const TokenStore> store_;
  std::vector<Piece> pieces_;
  std::vector<PackedRow> rows_;
  int64_t sequence_length_;
};

// Pass after pass without end, each in an order of its own that depends on (seed, epoch)
// alone. With R rows a pass, row g is the (g mod R)-th of epoch g / R, so every row comes
// once an epoch. Memory: 8 bytes a row for each of two epochs.
class ShuffledRows : public RowSource {
 public:
  ShuffledRows(std::shared_ptr<const PackedRows> pass, uint64_t seed);

  int64_t rows_per_epoch() const { return pass_->rows(); }
  int64_t sequence_length() const override { return pass_->sequence_length(); }
  int64_t trained_tokens(int64_t row) const override { return pass_->trained_tokens(row_of_pass(row)); }
  void fill(int64_t row, RowView out) const override { pass_->fill(row_of_pass(row), out); }

  // The row of the pass that the run's row `row` is.
  int64_t row_of_pass(int64_t row) const;

 private:
  struct Order {
    int64_t epoch = -1;
    std::vector<int64_t> rows;
  };

  std::shared_ptr<const PackedRows> pass_;
  uint64_t seed_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. Even epochs in one, odd ones in the other: a global batch that
  // straddles two epochs goes back and forth between them.
  mutable Order orders_[2];
};

}  // namespace lockstep::data
