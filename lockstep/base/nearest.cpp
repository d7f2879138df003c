#include "lockstep/base/nearest.h"

#include <algorithm>

namespace lockstep {

size_t edit_distance(std::string_view from, std::string_view to) {
  const size_t width = to.size() + 1;
  std::vector<size_t> two_back(width), above(width), row(width);
  for (size_t j = 0; j < width; ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    two_back.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j < width; ++j) {
      const size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance * 3 > std::max(candidate.size(), word.size())) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace lockstep
