// The verdict on a job: over what its ranks on different hosts talk to each other.
//
// Rules, for each communicator:
//   1. Between ranks of different hosts the path lines of both ends count, and must name the same
//      network. Network lines between ranks of one host say nothing about the network between
//      hosts.
//   2. Without path lines (NCCL 2.22 and newer connects on first use) it is what all its ranks
//      said they would use, and only selected.
//   3. If some ranks said neither, it is unknown.
//   4. libfabric is efa only with the provider "efa" exactly, TCP is TCP inside libfabric too,
//      and an unknown name is an unknown transport.
//   5. It is none when its ranks are on one host, or one NVLink domain joins their hosts.
// A job is what all its communicators across hosts agree on, else mixed; one that is unknown
// makes a job unknown that would be a pass otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/transport/communicator.h"
#include "lockstep/transport/host_map.h"
#include "lockstep/transport/log_evidence.h"
#include "lockstep/transport/transport_word.h"

namespace lockstep::transport {

// Two ranks on different hosts, both directions together.
struct PairVerdict {
  uint32_t rank_a = 0, rank_b = 0;  // in the communicator; a < b
  Transport transport = Transport::kUnknown;
  Level level = Level::kNothing;  // connected when every connection's both ends were seen
  GpuDirect gpu_direct = GpuDirect::kUnknown;
};

struct CommunicatorVerdict {
  std::string name;  // as Communicator::name
  uint32_t num_ranks = 0;
  std::vector<std::string> hosts;
  Transport transport = Transport::kUnknown;
  Level level = Level::kNothing;
  GpuDirect gpu_direct = GpuDirect::kUnknown;
  std::vector<std::string> networks;  // by NCCL's name, sorted
  // How much of it the logs show.
  uint32_t ranks_seen = 0;             // with a process
  uint32_t ranks_selected = 0;         // that named their network, or connected over one
  std::vector<uint32_t> silent_ranks;  // the first that did neither
  std::vector<PairVerdict> pairs;      // that connected, across hosts
  std::string reason;                  // one clause: why it is this
};

// What to look at: a cause with its line and its fix.
struct Finding {
  std::string cause, fix;
  uint64_t count = 0;  // lines that say so; 0 where it follows from others
  Quote line = {};     // Quote::line is 0 where there is none
};

struct JobVerdict {
  std::vector<std::string> sources;  // file names; Quote::source is an index
  Transport transport = Transport::kUnknown;
  Level level = Level::kNothing;  // the least of the communicators across hosts
  GpuDirect gpu_direct = GpuDirect::kUnknown;
  std::vector<std::string> hosts;      // sorted
  uint32_t num_ranks = 0;              // of the largest communicator
  std::vector<std::string> networks;   // used, by NCCL's name, sorted
  std::vector<std::string> providers;  // that libfabric selected, sorted
  // Of libfabric: "efa-direct", a subnet for TCP; devices that each process found; the instance type.
  std::vector<std::string> fabrics;
  std::vector<uint32_t> device_counts;
  std::vector<std::string> platforms;
  std::string reason;
  // Each should be one; several mean that ranks load different libraries.
  std::vector<std::string> nccl_versions, plugin_versions, libfabric_versions;
  std::vector<CommunicatorVerdict> communicators;
  std::vector<Quote> proof;       // the lines that show it: one for each network in use
  std::vector<Finding> findings;  // likely causes, the most telling first
  std::vector<Quote> warnings;    // NCCL's own, the first different ones
  std::map<std::string, std::set<std::string>> environment;  // NCCL's variables that were set
  uint64_t num_lines = 0, num_records = 0;
};

// Takes time and memory in proportion to the evidence, not to the logs.
JobVerdict judge(const LogEvidence& evidence);

}  // namespace lockstep::transport
