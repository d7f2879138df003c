// The communicators of a job, joined from what its processes said about them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lockstep/transport/host_map.h"
#include "lockstep/transport/log_evidence.h"

namespace lockstep::transport {

// One end of a network connection between two ranks, all channels together.
struct NetEnd {
  bool seen = false;
  NameTable::Id net = NameTable::kNone;
  Transport transport = Transport::kUnknown;
  bool disagrees = false;  // its channels name different networks, or transports
  bool with_gpu_direct = false, without_gpu_direct = false;
  uint32_t process = 0;

  // Joins what another of its channels says.
  void add(NameTable::Id other_net, Transport other_transport, const PathSeen& path, uint32_t own_process);
};

// From a sending rank to a receiving one.
struct Connection {
  NetEnd send, receive;
  bool local = false;  // P2P or SHM
  bool mnnvl = false;
};

struct RankEntry {
  uint32_t process = 0;            // index into LogEvidence::processes()
  const Member* member = nullptr;  // none when only its path lines are there
  std::optional<Selection> selection;
};

struct Communicator {
  std::string name;      // commId, or parent's name "/split count.color"
  bool is_named = true;  // else no communicator is named in the logs: all path lines, as if they were of one
  uint32_t num_ranks = 0;
  uint32_t num_nodes = 0;  // as NCCL counts; 0 when no line says
  bool is_mnnvl = false;
  bool may_be_mnnvl = false;  // there is an NVLink domain, and no line says whether it is used
  // Ranks that said anything. Several entries for one where files overlap.
  std::map<uint32_t, std::vector<RankEntry>> ranks;
  std::unordered_map<uint64_t, Connection> connections;  // by connection_key
  std::map<NameTable::Id, uint32_t> collnets;            // networks of CollNet lines

  static uint64_t connection_key(uint32_t sender, uint32_t receiver) {
    return uint64_t{sender} << 32 | receiver;
  }
  static std::pair<uint32_t, uint32_t> ranks_of(uint64_t connection_key) {
    return {static_cast<uint32_t>(connection_key >> 32), static_cast<uint32_t>(connection_key)};
  }
};

// Path lines whose communicator is not known: its lines are lost.
struct StrayPath {
  uint32_t process = 0;
  PathKey key;
  PathSeen seen;
  Transport transport = Transport::kUnknown;
};

// By the counts of lines that Ray merged, what all ranks say; kNone where they do not.
struct MergedLines {
  NameTable::Id network = NameTable::kNone;
  NameTable::Id provider = NameTable::kNone;
  LinkLayers links = 0;  // of all devices that are listed
};

struct CommunicatorMap {
  std::vector<Communicator> communicators;  // parents before their splits
  std::vector<StrayPath> strays;
  std::vector<Selection> unplaced;  // for communicators whose name is lost
  MergedLines merged;
};

// The same communicator is known by its commId, a split by its parent, count and color, one of
// NCCL before 2.18 by its size and order. Path lines name no communicator: they go to the one
// that their process was opening when it printed them (NCCL up to 2.21) or to those that it has
// open and whose ranks and devices the line's labels fit; to all of them when several do.
CommunicatorMap map_communicators(const LogEvidence& evidence, const HostMap& hosts);

}  // namespace lockstep::transport
