// A range over a context's micro-batches, for `for (const Batch& batch : context.batches())`.
#pragma once

#include <iterator>
#include <optional>

#include "lockstep/train/batch.h"

namespace lockstep::train {

class TrainContext;

class BatchRange {
 public:
  explicit BatchRange(TrainContext& context) : context_(context) {}

  struct End {};
  class Iterator {
   public:
    explicit Iterator(BatchRange& range) : range_(range) { range_.advance(); }
    const Batch& operator*() const { return *range_.current_; }
    Iterator& operator++() {
      range_.advance();
      return *this;
    }
    bool operator!=(End) const { return range_.current_.has_value(); }

   private:
    BatchRange& range_;
  };

  Iterator begin() { return Iterator(*this); }
  End end() const { return {}; }

 private:
  void advance();

  TrainContext& context_;
  std::optional<Batch> current_;
};

}  // namespace lockstep::train
