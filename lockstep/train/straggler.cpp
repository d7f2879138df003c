#include "lockstep/train/straggler.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "lockstep/base/check.h"

namespace lockstep::train {
namespace {

// Of an even number the lower one, unlike base/median.h: of two ranks the faster is what the other is
// measured by.
double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

record::SlowestRank slowest_of(std::span<const PhaseTimes> ranks) {
  LOCKSTEP_CHECK(!ranks.empty());
  std::vector<double> sums;
  for (const PhaseTimes& times : ranks) sums.push_back(std::accumulate(times.begin(), times.end(), 0.0));
  const auto slowest = static_cast<size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());

  PhaseTimes behind{};
  for (size_t phase = 0; phase < kNumPhases; ++phase) {
    std::vector<double> times;
    for (const PhaseTimes& rank : ranks) times.push_back(rank[phase]);
    behind[phase] = ranks[slowest][phase] - lower_median(std::move(times));
  }
  const auto phase = std::max_element(behind.begin(), behind.end()) - behind.begin();
  return {static_cast<int>(slowest), sums[slowest], to_text(static_cast<Phase>(phase)), lower_median(sums)};
}

}  // namespace lockstep::train
