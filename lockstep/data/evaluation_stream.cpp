#include "lockstep/data/evaluation_stream.h"

#include <algorithm>
#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/data/make_batch.h"

namespace lockstep::data {
namespace {

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

EvaluationStream::EvaluationStream(std::shared_ptr<const Dataset> dataset, int rank, int num_ranks)
    : dataset_(std::move(dataset)) {
  LOCKSTEP_CHECK(rank >= 0 && rank < num_ranks) << "rank " << rank << " of " << num_ranks;
  LOCKSTEP_CHECK(dataset_->held_out() != nullptr) << "nothing is held out";
  const PackedRows& rows = *dataset_->held_out();
  batches_ = ceil_divide(ceil_divide(rows.rows(), dataset_->micro_batch()), num_ranks);
  first_batch_ = rank * batches_;
  for (int64_t row = 0; row < rows.rows(); ++row) total_tokens_ += rows.trained_tokens(row);
}

std::optional<Batch> EvaluationStream::next() {
  if (index_ == batches_) return std::nullopt;
  const PackedRows& rows = *dataset_->held_out();
  const int64_t batch_rows = dataset_->micro_batch();
  const int64_t first_row = std::min((first_batch_ + index_) * batch_rows, rows.rows());
  auto batch = make_batch(rows, first_row, std::min(batch_rows, rows.rows() - first_row), batch_rows);
  batch.step_tokens = total_tokens_;
  batch.micro_index = index_++;
  batch.last_micro_batch = index_ == batches_;
  return batch;
}

}  // namespace lockstep::data
