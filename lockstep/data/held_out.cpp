#include "lockstep/data/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_rules.h"

namespace lockstep::data {

HeldOut HeldOut::parse(const std::string& value) {
  const auto share = held_out_share(value);
  if (!share) return {.path = value};
  if (!(*share > 0 && *share < 1)) {
    throw ConfigError(fmt::format("data.held_out: a share must lie between 0 and 1, got {}", value));
  }
  return {.share = share};
}

std::vector<bool> choose_held_out(std::span<const uint64_t> content_hashes, double share) {
  std::vector<bool> held(content_hashes.size());
  if (held.empty()) return held;
  const auto count = std::max<int64_t>(1, std::llround(share * double(held.size())));
  std::vector<uint64_t> sorted(content_hashes.begin(), content_hashes.end());
  const auto last = sorted.begin() + (count - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  for (size_t i = 0; i < held.size(); ++i) held[i] = content_hashes[i] <= *last;
  return held;
}

}  // namespace lockstep::data
