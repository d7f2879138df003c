#include "lockstep/data/pack.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "lockstep/base/check.h"

namespace lockstep::data {

std::vector<PackedRow> pack_best_fit(std::span<const int32_t> lengths, int64_t capacity,
                                     std::span<const int64_t> tie_order) {
  LOCKSTEP_CHECK(tie_order.size() == lengths.size()) << tie_order.size() << " != " << lengths.size();
  std::vector<int64_t> longest_first(tie_order.begin(), tie_order.end());
  std::ranges::stable_sort(longest_first, [&](int64_t a, int64_t b) { return lengths[a] > lengths[b]; });

  std::vector<PackedRow> rows;
  std::set<std::pair<int64_t, int64_t>> open_rows;  // (free positions, row), rows with some left
  for (const int64_t piece : longest_first) {
    const int64_t length = lengths[piece];
    LOCKSTEP_CHECK(length >= 1 && length <= capacity) << "piece of " << length << " in rows of " << capacity;
    int64_t row = int64_t(rows.size()), free = capacity;
    if (const auto fullest = open_rows.lower_bound({length, 0}); fullest != open_rows.end()) {
      std::tie(free, row) = *fullest;
      open_rows.erase(fullest);
    } else {
      rows.emplace_back();
    }
    rows[row].push_back(piece);
    if (free > length) open_rows.insert({free - length, row});
  }
  return rows;
}

std::vector<PackedRow> pack_none(int64_t pieces) {
  std::vector<PackedRow> rows;
  for (int64_t piece = 0; piece < pieces; ++piece) rows.push_back({piece});
  return rows;
}

}  // namespace lockstep::data
