// What one process said in its log, reduced to what a verdict needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/transport/comm_line.h"
#include "lockstep/transport/ib_devices.h"
#include "lockstep/transport/name_table.h"
#include "lockstep/transport/path_line.h"
#include "lockstep/transport/quote.h"

namespace lockstep::transport {

// The network that a process named for a communicator.
struct Selection {
  NameTable::Id net = NameTable::kNone;
  NameTable::Id provider = NameTable::kNone;  // libfabric's, at that time
  LinkLayers links = 0;                       // of NET/IB's devices, at that time

  bool operator==(const Selection&) const = default;
};

// A process' part in one communicator.
struct Member {
  CommLine line;  // the first line's fields, completed by later lines
  std::optional<Selection> selection;
  std::vector<std::pair<uint64_t, uint32_t>>
      comm_ids;  // each with its number of lines: a glued line may be wrong
  uint32_t num_lines = 0;
  // Positions in the process' own sequence of communicator events.
  uint32_t begin_epoch = 0;
  uint32_t complete_epoch = UINT32_MAX;
  uint32_t end_epoch = UINT32_MAX;
};

// A bracketed label of a path line: its digits read as hexadecimal, since it is a PCI bus id
// before NCCL 2.18.3 and a decimal device after it.
inline constexpr uint64_t kNoLabel = UINT64_MAX;

struct PathKey {
  uint32_t own_rank = 0, peer_rank = 0;
  uint64_t own_label = kNoLabel, peer_label = kNoLabel;
  uint32_t epoch = 0;  // of the process when it printed the line
  NameTable::Id net = NameTable::kNone;
  PathLine::Medium medium = PathLine::Medium::kNet;
  bool is_sender = true;

  bool operator==(const PathKey&) const = default;
};

struct PathKeyHash {
  size_t operator()(const PathKey& key) const {
    uint64_t hash = (uint64_t{key.own_rank} << 32 | key.peer_rank) * 0x9E3779B97F4A7C15u;
    hash ^= (key.own_label << 17) ^ (key.peer_label << 3) ^ (uint64_t{key.epoch} << 40);
    hash ^= uint64_t{key.net} << 8 ^ static_cast<uint64_t>(key.medium) << 1 ^ (key.is_sender ? 1 : 0);
    return hash * 0xD6E8FEB86659FD93u >> 7;
  }
};

struct PathSeen {
  bool with_gpu_direct = false, without_gpu_direct = false;
  uint64_t devices = 0;  // bit per device of the network; the last bit for all above
};

struct ProcessLog {
  NameTable::Id host = NameTable::kNone;
  NameTable::Id node = NameTable::kNone;
  uint32_t source = 0;
  uint32_t pid = 0;
  uint64_t num_lines = 0;

  struct Address {
    NameTable::Id interface, ip;
    bool operator==(const Address&) const = default;
  };
  std::vector<Address> addresses;  // of its bootstrap; more than one when two processes share a key

  NameTable::Id versions[3] = {};                  // by Library
  NameTable::Id provider = NameTable::kNone;       // in use
  NameTable::Id last_provider = NameTable::kNone;  // also one that the plugin gave up after selecting
  NameTable::Id fabric = NameTable::kNone;
  uint32_t num_nics = 0;
  NameTable::Id platform = NameTable::kNone;  // EC2 instance type, as the plugin names it
  bool on_aws = false;                        // the plugin applied its settings for EC2
  IbDevices ib_devices;
  NameTable::Id implied_net = NameTable::kNone;  // by initialisation lines; for NCCL too old to name it
  bool has_fabric = false;                       // an NVLink domain across hosts
  uint8_t plugin_wording = 0;                    // plugin_wording() of its line about the missing plugin

  uint32_t epoch = 0;
  std::vector<Member> members;
  // Named on a thread whose communicator has not been named yet.
  std::unordered_map<uint32_t, Selection> pending;
  std::vector<Selection> unplaced;  // different ones whose communicator's lines never came
  std::unordered_map<PathKey, PathSeen, PathKeyHash> paths;

  // The first lines that name a network, and that are connected over one; for quoting.
  struct NetQuote {
    NameTable::Id net;
    bool is_path;
    Quote quote;
  };
  std::vector<NetQuote> quotes;

  // The member that `line` is about, or null for one that it begins: an address is used again once
  // its communicator is gone, also when the line that said so is lost.
  Member* find(const CommLine& line);
  Member& begin(const CommLine& line);
  // Takes `line`, printed by thread `tid`, into `member`: returns 1 when that took the network which
  // the thread had named, else 0.
  size_t add(const CommLine& line, Member& member, uint32_t tid);
};

}  // namespace lockstep::transport
