#include "lockstep/transport/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "lockstep/transport/net_name.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

constexpr size_t kMaxSilentRanks = 8;

// Says what a set of transports is together.
class Agreement {
 public:
  void add(Transport transport) { seen_.insert(transport); }
  bool empty() const { return seen_.empty(); }
  // Those known that differ are mixed, also beside unknown ones.
  Transport result() const {
    std::set<Transport> known = seen_;
    known.erase(Transport::kUnknown);
    if (known.size() > 1) return Transport::kMixed;
    if (known.empty() || seen_.contains(Transport::kUnknown)) return Transport::kUnknown;
    return *known.begin();
  }

 private:
  std::set<Transport> seen_;
};

class GpuDirectCount {
 public:
  void add(const NetEnd& end) {
    with_ = with_ || end.with_gpu_direct;
    without_ = without_ || end.without_gpu_direct;
  }
  GpuDirect result() const {
    if (with_ == without_) return GpuDirect::kUnknown;
    return with_ ? GpuDirect::kYes : GpuDirect::kNo;
  }

 private:
  bool with_ = false, without_ = false;
};

// Which of several things are joined: hosts by connections.
class Joined {
 public:
  explicit Joined(size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  void join(size_t a, size_t b) { parent_[root(a)] = root(b); }
  bool all() {
    for (size_t i = 1; i < parent_.size(); ++i) {
      if (root(i) != root(0)) return false;
    }
    return true;
  }

 private:
  size_t root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::vector<size_t> parent_;
};

class Folder {
 public:
  Folder(const Communicator& communicator, const JobEvidence& job) : communicator_(communicator), job_(job) {}

  CommunicatorVerdict fold() {
    verdict_.name = communicator_.name;
    verdict_.num_ranks = communicator_.num_ranks;
    find_hosts();
    find_networks();
    find_pairs();
    decide();
    for (const Id net : nets_) verdict_.networks.push_back(name(net));
    std::sort(verdict_.networks.begin(), verdict_.networks.end());
    return std::move(verdict_);
  }

 private:
  const std::string& name(Id id) const { return job_.evidence.names().name(id); }

  // ----- where its ranks are

  void find_hosts() {
    std::set<int> hosts;
    for (const auto& [rank, entries] : communicator_.ranks) {
      ++verdict_.ranks_seen;
      std::set<int> own;
      for (const RankEntry& entry : entries) own.insert(job_.hosts.host_of[entry.process]);
      // A rank on two hosts, or on one that has no name of its own, is nowhere.
      if (own.size() != 1 || *own.begin() < 0) continue;
      host_of_[rank] = *own.begin();
      hosts.insert(*own.begin());
    }
    hosts_.assign(hosts.begin(), hosts.end());
    for (const int host : hosts_) verdict_.hosts.push_back(job_.hosts.names[host]);
    all_placed_ = host_of_.size() == communicator_.num_ranks;
  }

  std::optional<int> host_of(uint32_t rank) const {
    const auto found = host_of_.find(rank);
    return found == host_of_.end() ? std::nullopt : std::optional(found->second);
  }

  bool crosses(uint32_t a, uint32_t b) const {
    const auto host_a = host_of(a), host_b = host_of(b);
    return host_a && host_b && *host_a != *host_b;
  }

  // ----- what its ranks selected

  void find_networks() {
    for (const auto& [rank, entries] : communicator_.ranks) {
      for (const RankEntry& entry : entries) {
        if (const std::optional<Selection> selection = selection_of(entry)) add_selection(rank, *selection);
      }
    }
    for (const auto& [key, connection] : communicator_.connections) {
      const uint32_t sender = static_cast<uint32_t>(key >> 32), receiver = static_cast<uint32_t>(key);
      if (connection.send.seen) add_end(sender, connection.send);
      if (connection.receive.seen) add_end(receiver, connection.receive);
    }
    verdict_.ranks_selected = static_cast<uint32_t>(selected_.size());
    if (job_.network_of_all != NameTable::kNone && verdict_.ranks_selected < communicator_.num_ranks) {
      nets_.insert(job_.network_of_all);
      selection_.add(transport_of(name(job_.network_of_all), name(job_.provider_of_all), job_.links_of_all));
      verdict_.ranks_selected = communicator_.num_ranks;
      by_count_ = true;
    }
    for (uint32_t rank = 0; rank < communicator_.num_ranks && !by_count_; ++rank) {
      if (selected_.contains(rank)) continue;
      verdict_.silent_ranks.push_back(rank);
      if (verdict_.silent_ranks.size() == kMaxSilentRanks) break;
    }
  }

  bool add_network(uint32_t rank, Id net) {
    if (!job_.evidence.is_network(net)) return false;
    selected_.insert(rank);
    nets_.insert(net);
    return true;
  }

  void add_end(uint32_t rank, const NetEnd& end) {
    if (add_network(rank, end.net)) selection_.add(end.transport);
  }

  void add_selection(uint32_t rank, const Selection& selection) {
    if (!add_network(rank, selection.net)) return;
    // With devices of both kinds only the path lines tell which are in use.
    if (is_verbs(name(selection.net)) && selection.links == (kInfiniBand | kEthernet)) {
      has_both_links_ = true;
    } else {
      selection_.add(transport_of(name(selection.net), name(selection.provider), selection.links));
    }
  }

  std::optional<Selection> selection_of(const RankEntry& entry) const {
    if (entry.selection) return entry.selection;
    return selection_before_2_18(job_.evidence.processes()[entry.process]);
  }

  // Older NCCL names the network once a process, on another thread and before all communicators;
  // before 2.6 only the lines of its initialisation tell.
  std::optional<Selection> selection_before_2_18(const ProcessLog& process) const {
    const bool is_old =
        job_.evidence.before_2_18() ||
        selects_once(name(process.versions[static_cast<size_t>(Library::kNccl)])) ||
        std::any_of(job_.evidence.bare_versions().begin(), job_.evidence.bare_versions().end(),
                    [&](Id version) { return selects_once(name(version)); });
    if (!is_old) return std::nullopt;
    if (process.pending.size() == 1) return process.pending.begin()->second;
    for (const Member& member : process.members) {
      if (member.selection) return member.selection;
    }
    if (job_.evidence.counts().networks.empty() && process.implied_net != NameTable::kNone)
      return Selection{process.implied_net, process.provider, process.ib_devices.all()};
    return std::nullopt;
  }

  // ----- how its ranks connected

  void find_pairs() {
    std::map<std::pair<uint32_t, uint32_t>, std::vector<const Connection*>> pairs;
    for (const auto& [key, connection] : communicator_.connections) {
      const uint32_t sender = static_cast<uint32_t>(key >> 32), receiver = static_cast<uint32_t>(key);
      if (!crosses(sender, receiver)) continue;
      if (connection.send.seen || connection.receive.seen) {
        pairs[std::minmax(sender, receiver)].push_back(&connection);
      } else if (connection.mnnvl) {
        nvlink_crosses_ = true;
      }
    }
    Joined joined(hosts_.size());
    all_pairs_connected_ = !pairs.empty();
    GpuDirectCount all;
    for (const auto& [ranks, connections] : pairs) {
      PairVerdict pair{ranks.first, ranks.second};
      Agreement agreement;
      GpuDirectCount gpu_direct;
      bool both_ends = true;
      for (const Connection* connection : connections) {
        for (const NetEnd* end : {&connection->send, &connection->receive}) {
          both_ends = both_ends && end->seen;
          if (!end->seen) continue;
          agreement.add(end->disagrees ? Transport::kMixed : end->transport);
          gpu_direct.add(*end);
          all.add(*end);
        }
        const bool both = connection->send.seen && connection->receive.seen;
        if (both && connection->send.net != connection->receive.net) agreement.add(Transport::kMixed);
      }
      pair.transport = agreement.result();
      pair.level = both_ends ? Level::kConnected : Level::kSelected;
      pair.gpu_direct = gpu_direct.result();
      paths_.add(pair.transport);
      all_pairs_connected_ = all_pairs_connected_ && both_ends;
      is_connected_ = is_connected_ || both_ends;
      if (both_ends) joined.join(host_index(pair.rank_a), host_index(pair.rank_b));
      verdict_.pairs.push_back(pair);
    }
    all_pairs_connected_ = all_pairs_connected_ && joined.all();
    verdict_.gpu_direct = all.result();
  }

  size_t host_index(uint32_t rank) const {
    return static_cast<size_t>(std::find(hosts_.begin(), hosts_.end(), host_of_.at(rank)) - hosts_.begin());
  }

  // ----- the rules

  bool is_local() const {
    if (communicator_.num_ranks == 1) return true;
    if (!verdict_.pairs.empty()) return false;
    if (communicator_.num_nodes == 1) return true;
    return all_placed_ && hosts_.size() == 1 && !may_be_several_hosts();
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

  std::string net_names() const {
    std::set<std::string> names;
    for (const Id net : nets_) names.insert(name(net));
    return fmt::format("{}", fmt::join(names, " and "));
  }

  std::string counts() const {
    return fmt::format("{} of {} ranks named their network", verdict_.ranks_selected,
                       communicator_.num_ranks);
  }

  void decide() {
    const bool complete = verdict_.ranks_selected == communicator_.num_ranks;
    if (nets_.size() > 1)
      return conclude(Transport::kMixed, level(),
                      fmt::format("its ranks use {}: they cannot connect", net_names()));
    if (is_local()) {
      const bool has_paths = !communicator_.connections.empty();
      return conclude(Transport::kNone, has_paths ? Level::kConnected : Level::kSelected, local_reason());
    }
    if (verdict_.pairs.empty() && nvlink_crosses_ && hosts_.size() > 1)
      return conclude(Transport::kNone, Level::kConnected,
                      "NVLink joins its hosts; no path goes through a network");
    if (!complete) return decide_incomplete();
    if (may_be_several_hosts() || (hosts_.size() < 2 && communicator_.num_nodes < 2))
      return conclude(Transport::kUnknown, Level::kNothing, "it does not show on which hosts its ranks are");
    if (verdict_.pairs.empty() && communicator_.may_be_mnnvl && communicator_.num_nodes == 0)
      return conclude(Transport::kUnknown, Level::kNothing,
                      "its hosts may be joined by NVLink; no line says");
    decide_by_networks();
  }

  // Ranks that say nothing can turn no refusal into a pass: TCP between some is TCP.
  void decide_incomplete() {
    const Transport seen = paths_.result();
    if (is_connected_ && (seen == Transport::kSocket || seen == Transport::kOfiTcp))
      return conclude(seen, Level::kSelected,
                      fmt::format("rank pairs across hosts are connected over {}", net_names()));
    conclude(Transport::kUnknown, Level::kNothing, fmt::format("only {}", counts()));
  }

  void decide_by_networks() {
    if (has_both_links_ && paths_.empty())
      return conclude(Transport::kUnknown, Level::kNothing,
                      "it has InfiniBand and RoCE devices, and none connected yet");
    Agreement both = selection_;
    if (!paths_.empty()) both.add(paths_.result());
    for (const auto& [net, count] : communicator_.collnets) both.add(collnet_transport(net));
    const Transport transport = both.result();
    if (transport == Transport::kUnknown) return conclude(transport, Level::kNothing, unknown_reason());
    if (transport == Transport::kMixed)
      return conclude(transport, level(),
                      fmt::format("its ranks use {} with different providers or links", net_names()));
    conclude(transport, level(), transport_reason());
  }

  // SHARP runs on InfiniBand; another offload network is not known.
  Transport collnet_transport(Id net) const {
    const bool on_ib = name(net) == "SHARP" || name(net) == "IBext" || is_verbs(name(net));
    return on_ib ? selection_.result() : Transport::kUnknown;
  }

  Level level() const { return all_pairs_connected_ ? Level::kConnected : Level::kSelected; }

  std::string local_reason() const {
    if (communicator_.is_mnnvl) return "one NVLink domain joins its hosts";
    return "its ranks are on one host";
  }

  std::string unknown_reason() const {
    if (nets_.empty()) return "no rank named its network";
    const std::string& net = name(*nets_.begin());
    if (is_ofi(net))
      return fmt::format("{} is in use, but not on all ranks with a provider that is known", net);
    if (is_verbs(net))
      return fmt::format("{} is in use, but the link layer of its devices is not in the log", net);
    return fmt::format("\"{}\" is not a network that is known here", net);
  }

  std::string transport_reason() const {
    if (by_count_)
      return fmt::format("{} by the counts of Ray's merged lines, all {}", counts(), net_names());
    std::string reason = fmt::format("{}, all {}", counts(), net_names());
    size_t connected = 0;
    for (const PairVerdict& pair : verdict_.pairs) connected += pair.level == Level::kConnected ? 1 : 0;
    if (verdict_.pairs.empty()) return reason + "; nothing connected across hosts yet";
    return reason +
           fmt::format("; {} of {} rank pairs across hosts with both ends", connected, verdict_.pairs.size());
  }

  const Communicator& communicator_;
  const JobEvidence& job_;
  CommunicatorVerdict verdict_;
  std::map<uint32_t, int> host_of_;  // by rank, where it is known
  std::vector<int> hosts_;
  bool all_placed_ = false;
  std::set<uint32_t> selected_;
  std::set<Id> nets_;
  Agreement selection_, paths_;
  bool has_both_links_ = false;
  bool by_count_ = false;  // Ray's counts stand for ranks that are not named
  bool nvlink_crosses_ = false;
  bool is_connected_ = false;         // at least one pair with both ends
  bool all_pairs_connected_ = false;  // all pairs, and they join all hosts
};

}  // namespace

CommunicatorVerdict fold(const Communicator& communicator, const JobEvidence& job) {
  return Folder(communicator, job).fold();
}

}  // namespace lockstep::transport
