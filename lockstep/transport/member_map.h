// Who is a member of which communicator: joins what processes said about their own part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lockstep/transport/communicator.h"

namespace lockstep::transport {

// One process, with all the parts of its log.
struct ProcessGroup {
  struct Membership {
    uint32_t process;  // the part that it stands in: index into LogEvidence::processes()
    const Member* member;
    std::optional<Selection> selection;
    size_t communicator;  // index into MemberMap::communicators
  };
  std::vector<uint32_t> parts;
  std::vector<Membership> memberships;
};

struct MemberMap {
  std::map<uint32_t, ProcessGroup> groups;  // by HostMap::process
  std::vector<Communicator> communicators;  // without connections
  std::vector<Selection> unplaced;
};

MemberMap map_members(const LogEvidence& evidence, const HostMap& hosts);

inline bool is_epoch_of(uint32_t epoch, uint32_t begin, uint32_t end) {
  return begin <= epoch && epoch < end;
}

}  // namespace lockstep::transport
