#include "lockstep/transport/expected_bytes.h"

#include <algorithm>
#include <numeric>

namespace lockstep::transport {

ExpectedBytes expected_bytes(std::span<const GroupTraffic> groups) {
  double least = 0, most = 0;
  for (const GroupTraffic& group : groups) {
    const auto hosts = static_cast<double>(group.ranks_per_host.size());
    if (hosts < 2) continue;
    const double ranks = std::accumulate(group.ranks_per_host.begin(), group.ranks_per_host.end(), 0);
    const auto sent = static_cast<double>(group.sent_bytes);
    const double part = sent / (ranks - 1);
    double pairs = 0;
    for (const int local : group.ranks_per_host) pairs = std::max(pairs, local * (ranks - local) * part);
    least += (hosts - 1) / hosts * ranks * part;
    most += std::max(sent, pairs);
  }
  return {static_cast<int64_t>(least), static_cast<int64_t>(most)};
}

}  // namespace lockstep::transport
