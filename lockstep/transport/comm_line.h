// NCCL's lines about communicators: which process is which rank of which.
//
//   comm 0x55 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 31000 commId 0x7a31 - Init START     2.18.3 to 2.20
//   ncclCommInitRank comm 0x55 rank ... commId 0x7a31 - Init COMPLETE                        2.21
//   ncclCommSplit comm 0x55 rank ... parent 0x44 splitCount 1 color 0 key 0- Init START      2.24 to 2.28
//   [Rank 3] ncclCommInitRankConfig comm 0x55 rank ... commId 0x7a31 - Init START            2.29
//   comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0                     2.20
//   comm 0x55 rank 0 nranks 8 cudaDev 0 busId 31000 - Destroy COMPLETE                       all
// Lines before 2.18 lack commId, splits lack it since 2.23.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::transport {

struct CommLine {
  enum class Event {
    kStart,
    kComplete,
    kShape,
    kEnd
  };  // kShape: the nNodes line; kEnd: destroyed or aborted
  Event event = Event::kShape;
  uint64_t pointer = 0;  // names the communicator within its process while it lives
  uint32_t rank = 0, num_ranks = 0;
  std::optional<uint32_t> nvml_device;
  std::optional<uint64_t> bus_id;
  std::optional<uint64_t> comm_id;  // the same on all ranks
  // Of a split: the same on all ranks are the parent, the count and the color.
  std::optional<uint64_t> parent;  // pointer
  std::optional<uint32_t> split_count;
  int64_t color = 0;
  uint32_t num_nodes = 0;  // kShape: islands of NVLink or hosts, as NCCL sees them
  bool is_mnnvl = false;   // kShape: one NVLink domain spans hosts
};

// Nothing for other text and for a line that is cut or glued: all of it must be as NCCL prints it.
std::optional<CommLine> parse_comm_line(std::string_view text);

}  // namespace lockstep::transport
