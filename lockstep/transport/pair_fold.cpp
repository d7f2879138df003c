#include "lockstep/transport/pair_fold.h"

#include <algorithm>
#include <utility>

namespace lockstep::transport {
namespace {

using Ranks = std::pair<uint32_t, uint32_t>;

struct Folded {
  PairVerdict verdict;
  bool both_ends = true;
};

Folded fold_pair(const Ranks& ranks, const std::vector<const Connection*>& connections, GpuDirectCount& all) {
  Folded folded;
  Agreement transports;
  GpuDirectCount gpu_direct;
  for (const Connection* connection : connections) {
    for (const NetEnd* end : {&connection->send, &connection->receive}) {
      folded.both_ends = folded.both_ends && end->seen;
      if (!end->seen) continue;
      transports.add(end->disagrees ? Transport::kMixed : end->transport);
      gpu_direct.add(end->with_gpu_direct, end->without_gpu_direct);
      all.add(end->with_gpu_direct, end->without_gpu_direct);
    }
    const bool both = connection->send.seen && connection->receive.seen;
    if (both && connection->send.net != connection->receive.net) transports.add(Transport::kMixed);
  }
  folded.verdict = {ranks.first, ranks.second, transports.result(),
                    folded.both_ends ? Level::kConnected : Level::kSelected, gpu_direct.result()};
  return folded;
}

}  // namespace

PairFold fold_pairs(const Communicator& communicator, const std::map<uint32_t, int>& host_of) {
  PairFold fold;
  std::map<Ranks, std::vector<const Connection*>> pairs;
  for (const auto& [key, connection] : communicator.connections) {
    const auto [sender, receiver] = Communicator::ranks_of(key);
    const auto from = host_of.find(sender), to = host_of.find(receiver);
    if (from == host_of.end() || to == host_of.end() || from->second == to->second) continue;
    if (connection.send.seen || connection.receive.seen) {
      pairs[std::minmax(sender, receiver)].push_back(&connection);
    } else if (connection.mnnvl) {
      fold.nvlink_crosses = true;
    }
  }
  std::map<int, size_t> hosts;
  for (const auto& [rank, host] : host_of) hosts.try_emplace(host, hosts.size());
  Joined joined(hosts.size());
  GpuDirectCount all;
  fold.all_connected = !pairs.empty();
  for (const auto& [ranks, connections] : pairs) {
    const Folded pair = fold_pair(ranks, connections, all);
    fold.transports.add(pair.verdict.transport);
    fold.is_connected = fold.is_connected || pair.both_ends;
    fold.all_connected = fold.all_connected && pair.both_ends;
    if (pair.both_ends) joined.join(hosts.at(host_of.at(ranks.first)), hosts.at(host_of.at(ranks.second)));
    fold.pairs.push_back(pair.verdict);
  }
  fold.all_connected = fold.all_connected && joined.all();
  fold.gpu_direct = all.result();
  return fold;
}

}  // namespace lockstep::transport
