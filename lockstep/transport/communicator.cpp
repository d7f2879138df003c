#include "lockstep/transport/communicator.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "lockstep/transport/member_map.h"
#include "lockstep/transport/merged_lines.h"
#include "lockstep/transport/net_name.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

bool label_fits(uint64_t label, const CommLine& line) {
  if (label == kNoLabel) return true;
  if (!line.nvml_device && !line.bus_id) return true;
  if (line.bus_id && *line.bus_id == label) return true;
  if (!line.nvml_device) return false;
  // Decimal digits were read as hexadecimal ones.
  uint64_t as_hex = 0, scale = 1;
  for (uint32_t left = *line.nvml_device; left > 0 || scale == 1; left /= 10, scale *= 16)
    as_hex += left % 10 * scale;
  return as_hex == label;
}

// Gives path lines to the communicators that they belong to.
class PathPlacer {
 public:
  PathPlacer(const LogEvidence& evidence, const HostMap& hosts)
      : evidence_(evidence),
        hosts_(hosts),
        members_(map_members(evidence, hosts)),
        merged_(count_merged_lines(evidence, members_.communicators)) {}

  CommunicatorMap map() {
    for (const auto& [first, group] : members_.groups) place_paths(group);
    adopt_strays();
    if (members_.communicators.empty()) make_unnamed();
    return {std::move(members_.communicators), std::move(strays_), std::move(members_.unplaced), merged_};
  }

 private:
  void place_paths(const ProcessGroup& group) {
    for (const uint32_t process : group.parts) {
      for (const auto& [key, seen] : evidence_.processes()[process].paths) {
        if (key.net != NameTable::kNone && !evidence_.is_network(key.net)) continue;
        const auto candidates = candidates_for(group, process, key);
        for (const ProcessGroup::Membership& part : candidates)
          add_path(part.communicator, process, part.selection, key, seen);
        if (candidates.empty())
          strays_.push_back(
              {process, key, seen, transport_of_path(process, std::nullopt, key.net, seen.devices)});
      }
    }
  }

  bool fits(const ProcessGroup::Membership& part, const PathKey& key) const {
    const CommLine& line = part.member->line;
    if (line.rank != key.own_rank || key.peer_rank >= line.num_ranks || !label_fits(key.own_label, line))
      return false;
    if (key.medium == PathLine::Medium::kCollNet) return true;
    const auto& ranks = members_.communicators[part.communicator].ranks;
    const auto peer = ranks.find(key.peer_rank);
    if (peer == ranks.end()) return true;
    return std::any_of(peer->second.begin(), peer->second.end(), [&](const RankEntry& entry) {
      return entry.member == nullptr || label_fits(key.peer_label, entry.member->line);
    });
  }

  // Whether `member` was being opened at `epoch`. Before 2.18.3 no line says that this begins.
  static bool opens_at(const Member& member, uint32_t epoch) {
    const bool only_complete =
        member.complete_epoch != UINT32_MAX && member.begin_epoch + 1 == member.complete_epoch;
    const uint32_t begin = only_complete ? member.begin_epoch : member.begin_epoch + 1;
    return is_epoch_of(epoch, begin, member.complete_epoch);
  }

  std::vector<ProcessGroup::Membership> candidates_for(const ProcessGroup& group, uint32_t process,
                                                       const PathKey& key) const {
    std::vector<ProcessGroup::Membership> fitting, opening, open;
    for (const ProcessGroup::Membership& part : group.memberships) {
      if (!fits(part, key)) continue;
      fitting.push_back(part);
      const Member& member = *part.member;
      if (part.process != process) {
        open.push_back(part);  // epochs of different files cannot be compared
      } else if (opens_at(member, key.epoch)) {
        opening.push_back(part);
      } else if (is_epoch_of(key.epoch, member.begin_epoch, member.end_epoch)) {
        open.push_back(part);
      }
    }
    const Id version = evidence_.processes()[process].versions[static_cast<size_t>(Library::kNccl)];
    if (!opening.empty() && !connects_on_use(evidence_.names().name(version))) return opening;
    opening.insert(opening.end(), open.begin(), open.end());
    std::vector<ProcessGroup::Membership>& candidates = opening.empty() ? fitting : opening;
    // Those that named this network, if any did: a communicator uses one network.
    if (key.net != NameTable::kNone) {
      const auto other = [&](const ProcessGroup::Membership& part) {
        return !part.selection || part.selection->net != key.net;
      };
      const auto end = std::stable_partition(candidates.begin(), candidates.end(), std::not_fn(other));
      if (end != candidates.begin()) candidates.erase(end, candidates.end());
    }
    return candidates;
  }

  void add_path(size_t index, uint32_t process, const std::optional<Selection>& selection, const PathKey& key,
                const PathSeen& seen) {
    Communicator& communicator = members_.communicators[index];
    if (key.medium == PathLine::Medium::kCollNet) {
      ++communicator.collnets[key.net];
      return;
    }
    Connection& connection = communicator.connections[Communicator::connection_key(
        key.is_sender ? key.own_rank : key.peer_rank, key.is_sender ? key.peer_rank : key.own_rank)];
    if (key.medium == PathLine::Medium::kMnnvl) connection.mnnvl = true;
    if (key.medium != PathLine::Medium::kNet) {
      connection.local = true;
      return;
    }
    NetEnd& end = key.is_sender ? connection.send : connection.receive;
    end.add(key.net, transport_of_path(process, selection, key.net, seen.devices), seen, process);
  }

  Transport transport_of_path(uint32_t process, const std::optional<Selection>& selection, Id net,
                              uint64_t devices) const {
    Id provider = selection ? selection->provider : NameTable::kNone;
    LinkLayers links = 0;
    for (const uint32_t part : members_.groups.at(hosts_.process[process]).parts) {
      const ProcessLog& log = evidence_.processes()[part];
      if (provider == NameTable::kNone) provider = log.provider;
      for (uint32_t device = 0; device < 64 && !log.ib_devices.empty(); ++device) {
        if (devices >> device & 1) links |= log.ib_devices.of(device);
      }
    }
    if (provider == NameTable::kNone) provider = merged_.provider;
    if (links == 0) links = merged_.links;
    const std::string& name = evidence_.names().name(net);
    if (is_verbs(name) && links == (kInfiniBand | kEthernet)) return Transport::kMixed;
    return transport_of(name, evidence_.names().name(provider), links);
  }

  // ----- path lines of a process whose communicator lines are all lost

  // They belong to the one communicator that lacks the rank, if there is one only.
  std::optional<size_t> lacking(const StrayPath& stray) const {
    std::optional<size_t> only;
    for (size_t i = 0; i < members_.communicators.size(); ++i) {
      const Communicator& communicator = members_.communicators[i];
      if (std::max(stray.key.own_rank, stray.key.peer_rank) >= communicator.num_ranks) continue;
      const auto own = communicator.ranks.find(stray.key.own_rank);
      const bool taken =
          own != communicator.ranks.end() &&
          std::none_of(own->second.begin(), own->second.end(), [&](const RankEntry& entry) {
            return entry.member == nullptr && hosts_.process[entry.process] == hosts_.process[stray.process];
          });
      if (taken) continue;
      if (only) return std::nullopt;
      only = i;
    }
    return only;
  }

  void adopt_strays() {
    std::vector<StrayPath> left;
    for (const StrayPath& stray : strays_) {
      const bool has_members = !members_.groups.at(hosts_.process[stray.process]).memberships.empty();
      const std::optional<size_t> home = has_members ? std::nullopt : lacking(stray);
      if (home) {
        adopt(*home, stray);
      } else {
        left.push_back(stray);
      }
    }
    strays_ = std::move(left);
  }

  void adopt(size_t index, const StrayPath& stray) {
    auto& entries = members_.communicators[index].ranks[stray.key.own_rank];
    const bool is_known = std::any_of(entries.begin(), entries.end(), [&](const RankEntry& entry) {
      return hosts_.process[entry.process] == hosts_.process[stray.process];
    });
    if (!is_known) entries.push_back({stray.process, nullptr, std::nullopt});
    add_path(index, stray.process, std::nullopt, stray.key, stray.seen);
  }

  void make_unnamed() {
    uint32_t num_ranks = 0;
    for (const StrayPath& stray : strays_) {
      if (stray.key.medium == PathLine::Medium::kNet)
        num_ranks = std::max({num_ranks, stray.key.own_rank + 1, stray.key.peer_rank + 1});
    }
    if (num_ranks == 0) return;
    Communicator& unnamed = members_.communicators.emplace_back();
    unnamed.name = "unnamed";
    unnamed.is_named = false;
    unnamed.num_ranks = num_ranks;
    for (const StrayPath& stray : strays_) {
      if (std::max(stray.key.own_rank, stray.key.peer_rank) < num_ranks) adopt(0, stray);
    }
    strays_.clear();
  }

  const LogEvidence& evidence_;
  const HostMap& hosts_;
  MemberMap members_;
  const MergedLines merged_;
  std::vector<StrayPath> strays_;
};

}  // namespace

void NetEnd::add(Id other_net, Transport other_transport, const PathSeen& path, uint32_t own_process) {
  if (seen && (net != other_net || transport != other_transport)) disagrees = true;
  seen = true;
  net = other_net;
  transport = other_transport;
  process = own_process;
  with_gpu_direct = with_gpu_direct || path.with_gpu_direct;
  without_gpu_direct = without_gpu_direct || path.without_gpu_direct;
}

CommunicatorMap map_communicators(const LogEvidence& evidence, const HostMap& hosts) {
  return PathPlacer(evidence, hosts).map();
}

}  // namespace lockstep::transport
