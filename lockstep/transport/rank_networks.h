// What the ranks of a communicator said about their network, brought together.
#pragma once

#include <set>
#include <vector>

#include "lockstep/transport/agreement.h"
#include "lockstep/transport/communicator.h"
#include "lockstep/transport/fold.h"

namespace lockstep::transport {

struct RankNetworks {
  std::set<uint32_t> ranks;  // that named a network, or connected over one
  std::set<NameTable::Id> nets;
  Agreement transports;
  bool has_both_links = false;  // a rank has InfiniBand and RoCE devices: only paths tell which it uses
  bool by_count = false;        // Ray's counts stand for ranks that are not named
};

RankNetworks rank_networks(const Communicator& communicator, const JobEvidence& job);

}  // namespace lockstep::transport
