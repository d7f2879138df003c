#include "lockstep/transport/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "lockstep/transport/net_name.h"

namespace lockstep::transport {
namespace {

using Id = NameTable::Id;

// One process, all the parts of its log.
struct Group {
  std::vector<uint32_t> parts;
  struct Part {
    uint32_t process;
    const Member* member;
    std::optional<Selection> selection;
    size_t communicator;
  };
  std::vector<Part> members;
};

bool is_epoch_of(uint32_t epoch, uint32_t begin, uint32_t end) { return begin <= epoch && epoch < end; }

// A piece of a line glued to a piece of another can look like a line about a communicator: named
// once, beside the true one of the same address or the same identity.
bool is_ghost(const Member& member, const Member& other) {
  if (&member == &other || member.num_lines > 1 || other.num_lines < 2) return false;
  const bool overlaps = is_epoch_of(member.begin_epoch, other.begin_epoch, other.end_epoch) ||
                        is_epoch_of(other.begin_epoch, member.begin_epoch, member.end_epoch);
  const bool same_address = member.line.pointer == other.line.pointer;
  const bool same_identity = !member.comm_ids.empty() && !other.comm_ids.empty() &&
                             member.comm_ids.front().first == other.comm_ids.front().first &&
                             member.line.nvml_device == other.line.nvml_device;
  return overlaps && (same_address || same_identity);
}

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

class Mapper {
 public:
  Mapper(const LogEvidence& evidence, const HostMap& hosts) : evidence_(evidence), hosts_(hosts) {
    const auto& processes = evidence.processes();
    for (uint32_t i = 0; i < processes.size(); ++i) {
      if (hosts.host_of[i] == HostMap::kFragment) continue;
      groups_[hosts.process[i]].parts.push_back(i);
      for (const Member& member : processes[i].members) {
        for (const auto& [id, lines] : member.comm_ids) id_votes_[id] += lines;
        has_names_ = has_names_ || !is_nameless(member);
      }
    }
  }

  CommunicatorMap map() {
    for (auto& [first, group] : groups_) place_members(group);
    place_nameless();
    for (auto& [first, group] : groups_) place_paths(group);
    adopt_strays();
    return std::move(result_);
  }

 private:
  // ----- members

  void place_members(Group& group) {
    std::map<std::string, uint32_t> ordinals;
    for (const uint32_t process : group.parts) {
      const auto& members = evidence_.processes()[process].members;
      const auto ghost_of = [&](const Member& member) {
        return std::find_if(members.begin(), members.end(),
                            [&](const Member& other) { return is_ghost(member, other); });
      };
      // What a ghost took belongs to the true one.
      std::map<const Member*, Selection> inherited;
      for (const Member& member : members) {
        if (const auto heir = ghost_of(member); heir != members.end() && member.selection)
          inherited.emplace(&*heir, *member.selection);
      }
      for (const Member& member : members) {
        if (ghost_of(member) != members.end()) continue;
        Group::Part part{process, &member, member.selection, 0};
        if (const auto found = inherited.find(&member); !part.selection && found != inherited.end())
          part.selection = found->second;
        if (has_names_ && is_nameless(member)) {
          nameless_.push_back({&group, part});
        } else {
          part.communicator =
              communicator_of(name_of(group, process, member, ordinals), member.line.num_ranks);
          place(group, part);
        }
      }
    }
  }

  void place(Group& group, const Group::Part& part) {
    const Member& member = *part.member;
    Communicator& communicator = result_.communicators[part.communicator];
    if (member.line.num_ranks != communicator.num_ranks) return;  // a glued line
    group.members.push_back(part);
    communicator.ranks[member.line.rank].push_back({part.process, &member, part.selection});
    communicator.num_nodes = std::max(communicator.num_nodes, member.line.num_nodes);
    communicator.is_mnnvl = communicator.is_mnnvl || member.line.is_mnnvl;
    communicator.may_be_mnnvl = communicator.may_be_mnnvl || evidence_.processes()[part.process].has_fabric;
  }

  // Neither commId nor parent: the lines that have them are lost, or left out by Ray.
  static bool is_nameless(const Member& member) { return member.comm_ids.empty() && !member.line.parent; }

  // A nameless member is of the one communicator of its size that lacks its rank, if there is one.
  void place_nameless() {
    for (auto& [group, part] : nameless_) {
      std::vector<size_t> lacking;
      for (size_t i = 0; i < result_.communicators.size(); ++i) {
        const Communicator& communicator = result_.communicators[i];
        if (communicator.num_ranks == part.member->line.num_ranks &&
            !communicator.ranks.contains(part.member->line.rank))
          lacking.push_back(i);
      }
      if (lacking.size() == 1) {
        part.communicator = lacking.front();
        place(*group, part);
      } else if (part.selection) {
        result_.unplaced.push_back(*part.selection);
      }
    }
  }

  std::string name_of(const Group& group, uint32_t process, const Member& member,
                      std::map<std::string, uint32_t>& ordinals) const {
    const CommLine& line = member.line;
    if (!member.comm_ids.empty()) {
      uint64_t best = member.comm_ids.front().first;
      for (const auto& [id, lines] : member.comm_ids) {
        if (id_votes_.at(id) > id_votes_.at(best)) best = id;
      }
      return fmt::format("{:#x}", best);
    }
    if (!line.parent) {
      const std::string name = fmt::format("{} ranks", line.num_ranks);
      return fmt::format("{}, number {}", name, ++ordinals[name]);
    }
    std::string parent = fmt::format("?{}:{:#x}", process, *line.parent);
    for (const Group::Part& part : group.members) {
      if (part.member->line.pointer == *line.parent) parent = result_.communicators[part.communicator].name;
    }
    if (line.split_count) return fmt::format("{}/{}.{}", parent, *line.split_count, line.color);
    // 2.23 does not number its splits: count those of this parent, color and size.
    const std::string name = fmt::format("{}/{}.{}", parent, line.color, line.num_ranks);
    return fmt::format("{}.{}", name, ++ordinals[name]);
  }

  size_t communicator_of(const std::string& name, uint32_t num_ranks) {
    const auto [found, is_new] = index_.try_emplace(name, result_.communicators.size());
    if (is_new) {
      Communicator& communicator = result_.communicators.emplace_back();
      communicator.name = name;
      communicator.num_ranks = num_ranks;
    }
    return found->second;
  }

  // ----- paths

  void place_paths(const Group& group) {
    for (const uint32_t process : group.parts) {
      for (const auto& [key, seen] : evidence_.processes()[process].paths) {
        if (key.net != NameTable::kNone && !evidence_.is_network(key.net)) continue;
        const auto candidates = candidates_for(group, process, key);
        for (const Group::Part& part : candidates)
          add_path(part.communicator, process, part.selection, key, seen);
        if (candidates.empty()) result_.strays.push_back({process, key, seen});
      }
    }
  }

  bool fits(const Group::Part& part, const PathKey& key) const {
    const CommLine& line = part.member->line;
    if (line.rank != key.own_rank || key.peer_rank >= line.num_ranks || !label_fits(key.own_label, line))
      return false;
    if (key.medium == PathLine::Medium::kCollNet) return true;
    const auto& ranks = result_.communicators[part.communicator].ranks;
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

  std::vector<Group::Part> candidates_for(const Group& group, uint32_t process, const PathKey& key) const {
    std::vector<Group::Part> fitting, opening, open;
    for (const Group::Part& part : group.members) {
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
    std::vector<Group::Part>& candidates = opening.empty() ? fitting : opening;
    // Those that named this network, if any did: a communicator uses one network.
    if (key.net != NameTable::kNone) {
      const auto other = [&](const Group::Part& part) {
        return !part.selection || part.selection->net != key.net;
      };
      const auto end = std::stable_partition(candidates.begin(), candidates.end(), std::not_fn(other));
      if (end != candidates.begin()) candidates.erase(end, candidates.end());
    }
    return candidates;
  }

  void add_path(size_t index, uint32_t process, const std::optional<Selection>& selection, const PathKey& key,
                const PathSeen& seen) {
    Communicator& communicator = result_.communicators[index];
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
    const Transport transport = transport_of_path(process, selection, key.net, seen.devices);
    if (end.seen && (end.net != key.net || end.transport != transport)) end.disagrees = true;
    end.seen = true;
    end.net = key.net;
    end.transport = transport;
    end.process = process;
    end.with_gpu_direct = end.with_gpu_direct || seen.with_gpu_direct;
    end.without_gpu_direct = end.without_gpu_direct || seen.without_gpu_direct;
  }

  Transport transport_of_path(uint32_t process, const std::optional<Selection>& selection, Id net,
                              uint64_t devices) const {
    Id provider = selection ? selection->provider : NameTable::kNone;
    LinkLayers links = 0;
    for (const uint32_t part : groups_.at(hosts_.process[process]).parts) {
      const ProcessLog& log = evidence_.processes()[part];
      if (provider == NameTable::kNone) provider = log.provider;
      for (uint32_t device = 0; device < 64 && !log.ib_devices.empty(); ++device) {
        if (devices >> device & 1) links |= log.ib_devices.of(device);
      }
    }
    const std::string& name = evidence_.names().name(net);
    if (is_verbs(name) && links == (kInfiniBand | kEthernet)) return Transport::kMixed;
    return transport_of(name, evidence_.names().name(provider), links);
  }

  // ----- path lines of a process whose communicator lines are all lost

  // They belong to the one communicator that lacks the rank, if there is one only.
  std::optional<size_t> lacking(const StrayPath& stray) const {
    std::optional<size_t> only;
    for (size_t i = 0; i < result_.communicators.size(); ++i) {
      const Communicator& communicator = result_.communicators[i];
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
    for (const StrayPath& stray : result_.strays) {
      const bool has_members = !groups_.at(hosts_.process[stray.process]).members.empty();
      const std::optional<size_t> home = has_members ? std::nullopt : lacking(stray);
      if (!home) {
        left.push_back(stray);
        continue;
      }
      auto& entries = result_.communicators[*home].ranks[stray.key.own_rank];
      if (entries.empty()) entries.push_back({stray.process, nullptr, std::nullopt});
      add_path(*home, stray.process, std::nullopt, stray.key, stray.seen);
    }
    result_.strays = std::move(left);
  }

  const LogEvidence& evidence_;
  const HostMap& hosts_;
  std::map<uint32_t, Group> groups_;
  std::unordered_map<uint64_t, uint64_t> id_votes_;
  bool has_names_ = false;  // a member has a commId or a parent
  std::vector<std::pair<Group*, Group::Part>> nameless_;
  std::map<std::string, size_t> index_;
  CommunicatorMap result_;
};

}  // namespace

CommunicatorMap map_communicators(const LogEvidence& evidence, const HostMap& hosts) {
  return Mapper(evidence, hosts).map();
}

}  // namespace lockstep::transport
