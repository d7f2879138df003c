#include "lockstep/data/row.h"

#include <algorithm>

namespace lockstep::data {

void pad_row(RowView row, int64_t begin) {
  std::ranges::fill(row.tokens.subspan(begin), kPaddingToken);
  std::ranges::fill(row.positions.subspan(begin), 0);
  std::ranges::fill(row.document_ids.subspan(begin), kPaddingDocument);
  std::ranges::fill(row.targets.subspan(begin), kNoTarget);
}

}  // namespace lockstep::data
