#include "lockstep/transport/merged_lines.h"

#include <algorithm>

namespace lockstep::transport {

MergedLines count_merged_lines(const LogEvidence& evidence, const std::vector<Communicator>& communicators) {
  MergedLines merged;
  const LogEvidence::Counts& counts = evidence.counts();
  if (!counts.deduplicated) return merged;
  uint64_t most_ranks = 0, all_ranks = 0;
  for (const Communicator& communicator : communicators) {
    most_ranks = std::max<uint64_t>(most_ranks, communicator.num_ranks);
    all_ranks += communicator.num_ranks;
  }
  // A network is named once a rank and communicator, a provider at least once a process.
  if (counts.networks.size() == 1 && counts.networks.begin()->second >= std::max(all_ranks, counts.starts))
    merged.network = counts.networks.begin()->first;
  if (counts.providers.size() == 1 &&
      counts.providers.begin()->second >= std::max(most_ranks, counts.bootstraps))
    merged.provider = counts.providers.begin()->first;
  for (const ProcessLog& process : evidence.processes()) merged.links |= process.ib_devices.all();
  return merged;
}

}  // namespace lockstep::transport
