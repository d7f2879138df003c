// Which pieces share a row.
//
// best_fit: best-fit decreasing (Johnson, Demers, Ullman, Garey, Graham: "Worst-case
// performance bounds for simple one-dimensional packing algorithms", 1974): longest piece
// first, each into the fullest row that still holds it. At most 11/9 of the least possible
// number of rows, plus 4; close to none of the padding in practice. O(n log n).
// none: a row for each piece.
//
// The result depends on the lengths and `tie_order` alone. The number of rows depends on the
// lengths alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::data {

using PackedRow = std::vector<int64_t>;  // numbers of the pieces, in their order along the row

// `lengths[i]` in [1, capacity]; `tie_order`: a permutation of the pieces, which decides among
// pieces of one length (so neighbours in a file need not share a row).
std::vector<PackedRow> pack_best_fit(std::span<const int32_t> lengths, int64_t capacity,
                                     std::span<const int64_t> tie_order);
std::vector<PackedRow> pack_none(int64_t pieces);

}  // namespace lockstep::data
