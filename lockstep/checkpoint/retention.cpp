#include "lockstep/checkpoint/retention.h"

#include <algorithm>
#include <set>

namespace lockstep::checkpoint {

std::vector<CheckpointId> not_kept(std::vector<Committed> committed, const RetentionRule& rule) {
  std::sort(committed.begin(), committed.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::set<CheckpointId> kept;
  const auto num_last =
      std::min<int64_t>(static_cast<int64_t>(committed.size()), std::max<int64_t>(1, rule.keep_last));
  for (auto newest = committed.end() - num_last; newest != committed.end(); ++newest) kept.insert(newest->id);
  if (rule.keep_every) {
    for (const Committed& checkpoint : committed) {
      if (checkpoint.id.step % *rule.keep_every == 0) kept.insert(checkpoint.id);
    }
  }
  if (rule.keep_best) {
    std::vector<Committed> by_loss = committed;
    std::erase_if(by_loss, [](const Committed& checkpoint) { return !checkpoint.held_out_loss; });
    std::stable_sort(by_loss.begin(), by_loss.end(),
                     [](const auto& a, const auto& b) { return *a.held_out_loss < *b.held_out_loss; });
    for (int64_t i = 0; i < std::min<int64_t>(*rule.keep_best, static_cast<int64_t>(by_loss.size())); ++i) {
      kept.insert(by_loss[static_cast<size_t>(i)].id);
    }
  }
  std::vector<CheckpointId> result;
  for (const Committed& checkpoint : committed) {
    if (!kept.contains(checkpoint.id)) result.push_back(checkpoint.id);
  }
  return result;
}

}  // namespace lockstep::checkpoint
