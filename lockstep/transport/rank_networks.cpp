#include "lockstep/transport/rank_networks.h"

#include <algorithm>
#include <optional>

#include "lockstep/transport/net_name.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

class Collector {
 public:
  Collector(const Communicator& communicator, const JobEvidence& job)
      : communicator_(communicator), job_(job) {}

  RankNetworks collect() {
    for (const auto& [rank, entries] : communicator_.ranks) {
      for (const RankEntry& entry : entries) {
        if (const std::optional<Selection> selection = selection_of(entry)) add_selection(rank, *selection);
      }
    }
    for (const auto& [key, connection] : communicator_.connections) {
      const auto [sender, receiver] = Communicator::ranks_of(key);
      if (connection.send.seen) add_end(sender, connection.send);
      if (connection.receive.seen) add_end(receiver, connection.receive);
    }
    const MergedLines& merged = job_.merged;
    if (merged.network != NameTable::kNone && networks_.ranks.size() < communicator_.num_ranks) {
      networks_.nets.insert(merged.network);
      networks_.transports.add(transport_of(name(merged.network), name(merged.provider), merged.links));
      networks_.by_count = true;
    }
    return std::move(networks_);
  }

 private:
  const std::string& name(Id id) const { return job_.evidence.names().name(id); }

  bool add_network(uint32_t rank, Id net) {
    if (!job_.evidence.is_network(net)) return false;
    networks_.ranks.insert(rank);
    networks_.nets.insert(net);
    return true;
  }

  void add_end(uint32_t rank, const NetEnd& end) {
    if (add_network(rank, end.net)) networks_.transports.add(end.transport);
  }

  void add_selection(uint32_t rank, const Selection& selection) {
    if (!add_network(rank, selection.net)) return;
    if (is_verbs(name(selection.net)) && selection.links == (kInfiniBand | kEthernet)) {
      networks_.has_both_links = true;
    } else {
      const Id provider = selection.provider != NameTable::kNone ? selection.provider : job_.merged.provider;
      const LinkLayers links = selection.links != 0 ? selection.links : job_.merged.links;
      networks_.transports.add(transport_of(name(selection.net), name(provider), links));
    }
  }

  std::optional<Selection> selection_of(const RankEntry& entry) const {
    if (entry.selection) return entry.selection;
    return selection_before_2_18(job_.evidence.processes()[entry.process]);
  }

  bool is_before_2_18(const ProcessLog& process) const {
    const auto& bare = job_.evidence.bare_versions();
    return job_.evidence.before_2_18() ||
           selects_once(name(process.versions[static_cast<size_t>(Library::kNccl)])) ||
           std::any_of(bare.begin(), bare.end(), [&](Id version) { return selects_once(name(version)); });
  }

  // Older NCCL names the network once a process, on another thread and before all communicators;
  // before 2.6 only the lines of its initialisation tell.
  std::optional<Selection> selection_before_2_18(const ProcessLog& process) const {
    if (!is_before_2_18(process)) return std::nullopt;
    if (process.pending.size() == 1) return process.pending.begin()->second;
    for (const Member& member : process.members) {
      if (member.selection) return member.selection;
    }
    if (job_.evidence.counts().networks.empty() && process.implied_net != NameTable::kNone)
      return Selection{process.implied_net, process.provider, process.ib_devices.all()};
    return std::nullopt;
  }

  const Communicator& communicator_;
  const JobEvidence& job_;
  RankNetworks networks_;
};

}  // namespace

RankNetworks rank_networks(const Communicator& communicator, const JobEvidence& job) {
  return Collector(communicator, job).collect();
}

}  // namespace lockstep::transport
