#include "lockstep/transport/member_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace lockstep::transport {
namespace {

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

class Mapper {
 public:
  Mapper(const LogEvidence& evidence, const HostMap& hosts) : evidence_(evidence) {
    const auto& processes = evidence.processes();
    for (uint32_t i = 0; i < processes.size(); ++i) {
      if (hosts.host_of[i] == HostMap::kFragment) continue;
      map_.groups[hosts.process[i]].parts.push_back(i);
      for (const Member& member : processes[i].members) {
        for (const auto& [id, lines] : member.comm_ids) id_votes_[id] += lines;
        has_names_ = has_names_ || !is_nameless(member);
      }
    }
  }

  MemberMap map() {
    for (auto& [first, group] : map_.groups) place_members(group);
    place_nameless();
    return std::move(map_);
  }

 private:
  void place_members(ProcessGroup& group) {
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
        ProcessGroup::Membership part{process, &member, member.selection, 0};
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

  void place(ProcessGroup& group, const ProcessGroup::Membership& part) {
    const Member& member = *part.member;
    Communicator& communicator = map_.communicators[part.communicator];
    if (member.line.num_ranks != communicator.num_ranks) return;  // a glued line
    group.memberships.push_back(part);
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
      for (size_t i = 0; i < map_.communicators.size(); ++i) {
        const Communicator& communicator = map_.communicators[i];
        if (communicator.num_ranks == part.member->line.num_ranks &&
            !communicator.ranks.contains(part.member->line.rank))
          lacking.push_back(i);
      }
      if (lacking.size() == 1) {
        part.communicator = lacking.front();
        place(*group, part);
      } else if (part.selection) {
        map_.unplaced.push_back(*part.selection);
      }
    }
  }

  std::string name_of(const ProcessGroup& group, uint32_t process, const Member& member,
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
    for (const ProcessGroup::Membership& part : group.memberships) {
      if (part.member->line.pointer == *line.parent) parent = map_.communicators[part.communicator].name;
    }
    if (line.split_count) return fmt::format("{}/{}.{}", parent, *line.split_count, line.color);
    // 2.23 does not number its splits: count those of this parent, color and size.
    const std::string name = fmt::format("{}/{}.{}", parent, line.color, line.num_ranks);
    return fmt::format("{}.{}", name, ++ordinals[name]);
  }

  size_t communicator_of(const std::string& name, uint32_t num_ranks) {
    const auto [found, is_new] = index_.try_emplace(name, map_.communicators.size());
    if (is_new) {
      Communicator& communicator = map_.communicators.emplace_back();
      communicator.name = name;
      communicator.num_ranks = num_ranks;
    }
    return found->second;
  }

  const LogEvidence& evidence_;
  std::unordered_map<uint64_t, uint64_t> id_votes_;
  bool has_names_ = false;  // a member has a commId or a parent
  std::vector<std::pair<ProcessGroup*, ProcessGroup::Membership>> nameless_;
  std::map<std::string, size_t> index_;
  MemberMap map_;
};

}  // namespace

MemberMap map_members(const LogEvidence& evidence, const HostMap& hosts) {
  return Mapper(evidence, hosts).map();
}

}  // namespace lockstep::transport
