#include "lockstep/transport/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/transport/net_name.h"
#include "lockstep/transport/pair_fold.h"
#include "lockstep/transport/rank_networks.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

constexpr size_t kMaxSilentRanks = 8;

class Folder {
 public:
  Folder(const Communicator& communicator, const JobEvidence& job)
      : communicator_(communicator), job_(job), networks_(rank_networks(communicator, job)) {}

  CommunicatorVerdict fold() {
    verdict_.name = communicator_.name;
    verdict_.num_ranks = communicator_.num_ranks;
    find_hosts();
    count_ranks();
    pairs_ = fold_pairs(communicator_, host_of_);
    verdict_.gpu_direct = pairs_.gpu_direct;
    for (const Id net : networks_.nets) verdict_.networks.push_back(name(net));
    std::sort(verdict_.networks.begin(), verdict_.networks.end());
    decide();
    verdict_.pairs = std::move(pairs_.pairs);
    return std::move(verdict_);
  }

 private:
  const std::string& name(Id id) const { return job_.evidence.names().name(id); }

  void find_hosts() {
    std::set<int> hosts;
    for (const auto& [rank, entries] : communicator_.ranks) {
      std::set<int> own;
      for (const RankEntry& entry : entries) own.insert(job_.hosts.host_of[entry.process]);
      // A rank on two hosts, or on one that cannot be told from others, is nowhere.
      if (own.size() != 1 || *own.begin() < 0) continue;
      host_of_[rank] = *own.begin();
      hosts.insert(*own.begin());
    }
    hosts_.assign(hosts.begin(), hosts.end());
    for (const int host : hosts_) verdict_.hosts.push_back(job_.hosts.names[static_cast<size_t>(host)]);
    std::sort(verdict_.hosts.begin(), verdict_.hosts.end());
  }

  void count_ranks() {
    verdict_.ranks_seen = static_cast<uint32_t>(communicator_.ranks.size());
    verdict_.ranks_selected =
        networks_.by_count ? communicator_.num_ranks : static_cast<uint32_t>(networks_.ranks.size());
    if (verdict_.ranks_selected == communicator_.num_ranks) return;
    for (uint32_t rank = 0; verdict_.silent_ranks.size() < kMaxSilentRanks && rank < communicator_.num_ranks;
         ++rank) {
      if (!networks_.ranks.contains(rank)) verdict_.silent_ranks.push_back(rank);
    }
  }

  // ----- the rules

  bool is_local() const {
    if (communicator_.num_ranks == 1) return true;
    // Where NCCL counts one node, a single end of a connection is a line of another job.
    if (communicator_.num_nodes == 1) return !pairs_.is_connected;
    if (!pairs_.pairs.empty()) return false;
    const bool all_placed = host_of_.size() == communicator_.num_ranks;
    return all_placed && hosts_.size() == 1 && !may_be_several_hosts();
  }

  // Several hosts may be called localhost; that NCCL counts several nodes is then a sign of it,
  // unless its paths inside a host are switched off.
  bool may_be_several_hosts() const {
    return hosts_.size() == 1 && job_.hosts.doubtful[static_cast<size_t>(hosts_.front())] &&
           communicator_.num_nodes > 1 && !job_.evidence.local_paths_disabled();
  }

  void conclude(Transport transport, Level level, std::string reason) {
    verdict_.transport = transport;
    verdict_.level = level;
    verdict_.reason = std::move(reason);
  }

  void decide() {
    const bool complete = verdict_.ranks_selected == communicator_.num_ranks;
    if (networks_.nets.size() > 1)
      return conclude(Transport::kMixed, Level::kSelected,
                      fmt::format("its ranks use {}: they cannot connect", net_names()));
    if (is_local()) {
      const bool has_paths = !communicator_.connections.empty();
      return conclude(
          Transport::kNone, has_paths ? Level::kConnected : Level::kSelected,
          communicator_.is_mnnvl ? "one NVLink domain joins its hosts" : "its ranks are on one host");
    }
    if (pairs_.pairs.empty() && pairs_.nvlink_crosses)
      return conclude(Transport::kNone, Level::kConnected,
                      "NVLink joins its hosts; no path goes through a network");
    if (communicator_.num_nodes == 1)
      return conclude(Transport::kUnknown, Level::kNothing,
                      "NCCL counts one node, yet ranks connect across hosts");
    if (!complete) return decide_incomplete();
    if (may_be_several_hosts() || (hosts_.size() < 2 && communicator_.num_nodes < 2))
      return conclude(Transport::kUnknown, Level::kNothing, "it does not show on which hosts its ranks are");
    if (pairs_.pairs.empty() && communicator_.may_be_mnnvl && communicator_.num_nodes == 0)
      return conclude(Transport::kUnknown, Level::kNothing,
                      "its hosts may be joined by NVLink; no line says");
    decide_by_networks();
  }

  // Ranks that say nothing can turn no refusal into a pass: TCP between some is TCP.
  void decide_incomplete() {
    const Transport seen = pairs_.transports.result();
    if (pairs_.is_connected && (seen == Transport::kSocket || seen == Transport::kOfiTcp))
      return conclude(seen, Level::kSelected,
                      fmt::format("rank pairs across hosts are connected over {}", net_names()));
    conclude(Transport::kUnknown, Level::kNothing, fmt::format("only {}", counts()));
  }

  void decide_by_networks() {
    if (networks_.has_both_links && pairs_.pairs.empty())
      return conclude(Transport::kUnknown, Level::kNothing,
                      "it has InfiniBand and RoCE devices, and none connected yet");
    Agreement all = networks_.transports;
    if (!pairs_.pairs.empty()) all.add(pairs_.transports.result());
    for (const auto& [net, count] : communicator_.collnets) all.add(collnet_transport(net));
    const Transport transport = all.result();
    if (transport == Transport::kUnknown) return conclude(transport, Level::kNothing, unknown_reason());
    if (transport == Transport::kMixed)
      return conclude(transport, level(),
                      fmt::format("its ranks use {} with different providers or links", net_names()));
    conclude(transport, level(), transport_reason());
  }

  // SHARP runs on InfiniBand; another offload network is not known.
  Transport collnet_transport(Id net) const {
    const bool on_ib = name(net) == "SHARP" || is_verbs(name(net));
    return on_ib ? networks_.transports.result() : Transport::kUnknown;
  }

  Level level() const { return pairs_.all_connected ? Level::kConnected : Level::kSelected; }

  // ----- words

  std::string net_names() const { return fmt::format("{}", fmt::join(verdict_.networks, " and ")); }

  std::string counts() const {
    return fmt::format("{} of {} ranks named their network", verdict_.ranks_selected,
                       communicator_.num_ranks);
  }

  std::string unknown_reason() const {
    for (const auto& [net, count] : communicator_.collnets) {
      if (collnet_transport(net) == Transport::kUnknown && !is_verbs(name(net)) && name(net) != "SHARP")
        return fmt::format("it offloads to \"{}\", which is not known here", name(net));
    }
    const std::string& net = name(*networks_.nets.begin());
    if (is_ofi(net))
      return fmt::format("{} is in use, but not on all ranks with a provider that is known", net);
    if (is_verbs(net))
      return fmt::format("{} is in use, but the link layer of its devices is not in the log", net);
    return fmt::format("\"{}\" is not a network that is known here", net);
  }

  std::string transport_reason() const {
    if (networks_.by_count)
      return fmt::format("{} by the counts of Ray's merged lines, all {}", counts(), net_names());
    const std::string selected = fmt::format("{}, all {}", counts(), net_names());
    if (pairs_.pairs.empty()) return selected + "; nothing connected across hosts yet";
    const auto connected =
        std::count_if(pairs_.pairs.begin(), pairs_.pairs.end(),
                      [](const PairVerdict& pair) { return pair.level == Level::kConnected; });
    return selected +
           fmt::format("; {} of {} rank pairs across hosts with both ends", connected, pairs_.pairs.size());
  }

  const Communicator& communicator_;
  const JobEvidence& job_;
  const RankNetworks networks_;
  PairFold pairs_;
  CommunicatorVerdict verdict_;
  std::map<uint32_t, int> host_of_;  // by rank, where it is known
  std::vector<int> hosts_;
};

}  // namespace

CommunicatorVerdict fold(const Communicator& communicator, const JobEvidence& job) {
  return Folder(communicator, job).fold();
}

}  // namespace lockstep::transport
