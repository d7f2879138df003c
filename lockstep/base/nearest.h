// "Did you mean …?": the known word nearest to one that is not known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// How many letters must be inserted, removed, replaced or swapped with their neighbour to turn
// one word into the other (optimal string alignment). O(|from| * |to|).
size_t edit_distance(std::string_view from, std::string_view to);

// The first of the words with the least distance to `word`; nothing when even that one differs in
// more than a third of its letters, since a far guess misleads more than none.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace lockstep
