// How many bytes the hosts of a job should have sent to each other, from what its collectives were given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/transport/moved.h"

namespace lockstep::transport {

struct GroupTraffic {
  std::vector<int> ranks_per_host;  // of one group; one host: nothing leaves it
  int64_t sent_bytes = 0;           // by one rank, as comm::Communicator counts it
};

// For each host. A rank of W that sent s bytes has given (W-1) equal parts of n = s / (W-1). Over N hosts
// with L ranks each at least (N-1)/N W n leave a host (each part goes to each other host once), a ring sends
// s, and an exchange between all pairs L (W-L) n. Hosts with more ranks than others are counted as the
// largest. Zero to zero where no group spans hosts.
ExpectedBytes expected_bytes(std::span<const GroupTraffic> groups);

}  // namespace lockstep::transport
