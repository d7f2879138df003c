// The connections of a communicator that cross hosts, folded by rank pair.
#pragma once

#include <map>
#include <vector>

#include "lockstep/transport/agreement.h"
#include "lockstep/transport/communicator.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

struct PairFold {
  std::vector<PairVerdict> pairs;
  Agreement transports;  // of the pairs
  GpuDirect gpu_direct = GpuDirect::kUnknown;
  bool is_connected = false;   // at least one pair has both its ends
  bool all_connected = false;  // all pairs have, and they join all hosts
  bool nvlink_crosses = false;
};

// `host_of` has the hosts of the ranks that are placed on one; connections of others are left out.
PairFold fold_pairs(const Communicator& communicator, const std::map<uint32_t, int>& host_of);

}  // namespace lockstep::transport
