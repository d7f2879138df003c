// Rows as the tensors of a batch.
#pragma once

#include <cstdint>

#include "lockstep/data/batch.h"
#include "lockstep/data/row.h"

namespace lockstep::data {

// B = `batch_rows` rows on CPU: rows [first_row, first_row + rows) of the source, then rows of
// padding alone. Sets first_row and tokens_trained; the rest is the caller's.
Batch make_batch(const RowSource& source, int64_t first_row, int64_t rows, int64_t batch_rows);

}  // namespace lockstep::data
