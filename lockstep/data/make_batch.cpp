#include "lockstep/data/make_batch.h"

#include <ATen/ops/empty.h>

#include "lockstep/base/check.h"

namespace lockstep::data {
namespace {

template <typename T>
std::span<T> row_of(const at::Tensor& matrix, int64_t row) {
  const auto length = size_t(matrix.size(1));
  return {matrix.mutable_data_ptr<T>() + size_t(row) * length, length};
}

}  // namespace

Batch make_batch(const RowSource& source, int64_t first_row, int64_t rows, int64_t batch_rows) {
  LOCKSTEP_CHECK(rows >= 0 && rows <= batch_rows) << rows << " rows in a batch of " << batch_rows;
  const auto matrix = [&](at::ScalarType dtype) {
    return at::empty({batch_rows, source.sequence_length()}, dtype);
  };
  Batch batch{.tokens = matrix(at::kLong),
              .positions = matrix(at::kLong),
              .document_ids = matrix(at::kInt),
              .targets = matrix(at::kLong),
              .first_row = first_row};
  for (int64_t i = 0; i < batch_rows; ++i) {
    const RowView view{row_of<int64_t>(batch.tokens, i), row_of<int64_t>(batch.positions, i),
                       row_of<int32_t>(batch.document_ids, i), row_of<int64_t>(batch.targets, i)};
    if (i < rows) {
      source.fill(first_row + i, view);
      batch.tokens_trained += source.trained_tokens(first_row + i);
    } else {
      pad_row(view, 0);
    }
  }
  return batch;
}

}  // namespace lockstep::data
