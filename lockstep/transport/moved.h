// The third level of evidence: over which network bytes really went, by the counters of the network
// devices over a stretch of work whose bytes are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// What one host sent over the stretch, summed over the devices of a kind. Absent where the
// counters cannot be read, as in most containers: that is not the same as zero.
struct HostTraffic {
  std::string host;
  std::optional<int64_t> efa_bytes;    // tx_bytes of the EFA devices
  std::optional<int64_t> verbs_bytes;  // port_xmit_data times 4 of the InfiniBand or RoCE devices
  std::optional<int64_t>
      ethernet_bytes;  // tx_bytes of the interfaces, less what an idle stretch of the same length sends
};

// What each host should have sent to the others: between the least that any algorithm needs and
// what a ring sends. For collectives of S bytes in all over n ranks on N hosts: (N-1)/N S and (n-1)/n S.
struct ExpectedBytes {
  int64_t least = 0;
  int64_t most = 0;
};

struct MovedVerdict {
  Transport transport = Transport::kUnknown;  // unknown: the counters do not show it
  std::string reason;                         // one clause
};

// A network carried the work when its counters grew by 0.95 of the least to 1.2 of the most on
// every host and the others by less than 5 % of the least. Counters tell no more than the kind of
// device: `by_log` tells InfiniBand from RoCE, and NCCL's TCP from libfabric's. Fewer than 50 MB
// are not told from what else a host sends. CHECKs that 0 < least <= most.
MovedVerdict judge_moved(std::span<const HostTraffic> hosts, const ExpectedBytes& expected, Transport by_log);

// Counters overrule the log: the verdict becomes what they show, at the level of moved. Unknown
// changes nothing.
void overrule(JobVerdict& verdict, const MovedVerdict& moved);

}  // namespace lockstep::transport
