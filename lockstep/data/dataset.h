// The data of a run, opened once: read, tokenized, masked, split, cut, packed. The rules are
// docs/data.md.
//
// Everything here depends on the recipe and the files alone, never on ranks: each rank opens
// the data for itself and comes to the same rows without communication. Cost: reading and
// tokenizing every file on each rank; memory as token_store.h says, for all samples at once.
#pragma once

#include <cstdint>
#include <memory>

#include "lockstep/base/recipe.h"
#include "lockstep/data/packed_rows.h"
#include "lockstep/data/row.h"
#include "lockstep/data/summary.h"
#include "lockstep/text/tokenizer.h"

namespace lockstep::data {

class Dataset {
 public:
  // `tokenizer` is used during the call only; it may be null when recipe.data.source is
  // "random". `vocab_size`: the model's; every token must lie below it. Throws ConfigError
  // (missing files, settings, a tokenizer that does not fit the model) and DataError (broken
  // or empty data, nothing to train on).
  static std::shared_ptr<const Dataset> open(const Recipe& recipe, const text::Tokenizer* tokenizer,
                                             int64_t vocab_size);

  const RowSource& rows() const { return *rows_; }                // the run's endless order
  const PackedRows* held_out() const { return held_out_.get(); }  // null: nothing is held out
  int64_t steps_total() const { return summary_.steps; }          // optimizer steps of the whole run
  int64_t global_batch() const { return global_batch_; }
  int64_t micro_batch() const { return micro_batch_; }
  const DataSummary& summary() const { return summary_; }

 private:
  Dataset() = default;

  std::shared_ptr<const RowSource> rows_;
  std::shared_ptr<const PackedRows> held_out_;
  int64_t global_batch_ = 0, micro_batch_ = 0;
  DataSummary summary_;
};

}  // namespace lockstep::data
