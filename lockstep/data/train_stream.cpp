#include "lockstep/data/train_stream.h"

#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/data/make_batch.h"

namespace lockstep::data {
namespace {

constexpr size_t kBatchesAhead = 4;

}  // namespace

TrainStream::TrainStream(std::shared_ptr<const Dataset> dataset, int rank, int num_ranks, int64_t first_row)
    : dataset_(std::move(dataset)),
      plan_(dataset_->global_batch(), dataset_->micro_batch(), rank, num_ranks),
      position_(first_row),
      step_(first_row / plan_.global_batch()),
      prefetch_([this] { return produce(); }, kBatchesAhead) {
  LOCKSTEP_CHECK(first_row >= 0 && first_row % plan_.global_batch() == 0)
      << "row " << first_row << " does not begin a step of " << plan_.global_batch();
}

std::optional<Batch> TrainStream::next() {
  auto batch = prefetch_.next();
  if (batch && batch->last_micro_batch) position_ = (batch->step + 1) * plan_.global_batch();
  return batch;
}

std::optional<Batch> TrainStream::produce() {
  if (step_ >= dataset_->steps_total()) return std::nullopt;
  const RowSource& rows = dataset_->rows();
  if (micro_index_ == 0) {
    step_tokens_ = 0;
    for (int64_t i = 0; i < plan_.global_batch(); ++i) {
      step_tokens_ += rows.trained_tokens(step_ * plan_.global_batch() + i);
    }
  }
  auto batch =
      make_batch(rows, plan_.first_row(step_, micro_index_), plan_.micro_batch(), plan_.micro_batch());
  batch.step_tokens = step_tokens_;
  batch.step = step_;
  batch.micro_index = micro_index_;
  batch.last_micro_batch = micro_index_ + 1 == plan_.accumulation();
  micro_index_ = batch.last_micro_batch ? 0 : micro_index_ + 1;
  if (batch.last_micro_batch) ++step_;
  return batch;
}

}  // namespace lockstep::data
