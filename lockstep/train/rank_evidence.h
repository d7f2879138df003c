// What one rank knows about the network between the hosts, for rank 0 to judge.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/network_devices.h"
#include "lockstep/comm/rendezvous.h"

namespace lockstep::train {

struct RankEvidence {
  std::string host;     // transport::host_key
  std::string name;     // of the host
  std::string log;      // NCCL's; empty with Gloo
  std::string failure;  // why this rank could not connect; empty: it did
  std::vector<NetworkDevice> devices;
  std::vector<std::string> interfaces;  // that TCP uses

  // Of this process, as it is now.
  static RankEvidence of_this_process(std::string log, std::string failure);
  // Logs longer than 4 MB are cut at a line: what is missing then can only make a verdict unknown.
  Json to_json() const;
  static RankEvidence from_json(const Json& json);
};

// Every rank, through the store, where process groups may not work. Rank 0 gets all of it, by rank; the
// others get nothing. Throws CommError when a rank keeps silent for `timeout`.
std::vector<RankEvidence> collect(comm::Rendezvous& rendezvous, const std::string& stage,
                                  const RankEvidence& mine, std::chrono::milliseconds timeout);

}  // namespace lockstep::train
