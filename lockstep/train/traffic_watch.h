// Over which network the bytes of a stretch of work really went: what the hosts' network devices counted,
// against what the process groups should have sent.
//
//   TrafficWatch watch(rendezvous, mesh, hosts);
//   ... collectives ...
//   if (const auto moved = watch.finish("first steps", transport)) ...   // rank 0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/comm/mesh.h"
#include "lockstep/comm/rendezvous.h"
#include "lockstep/transport/moved.h"

namespace lockstep::train {

class TrafficWatch {
 public:
  // Every rank; `hosts`: each rank's, as RankEvidence names them. Takes a tenth of a second to see what the
  // devices send while this rank does nothing.
  TrafficWatch(comm::Rendezvous& rendezvous, comm::Mesh& mesh, std::vector<std::string> hosts);

  // Every rank, after the same collectives, once; `name` is used once in the life of the job. On rank 0 the
  // verdict, elsewhere nothing. Waits for the other hosts' first ranks. Throws CommError.
  std::optional<transport::MovedVerdict> finish(const std::string& name, transport::Transport by_log);

 private:
  bool is_first_of_its_host() const;
  transport::HostTraffic sent_since_start() const;
  std::vector<int64_t> group_bytes() const;
  transport::ExpectedBytes expected() const;

  comm::Rendezvous& rendezvous_;
  comm::Mesh& mesh_;
  const std::vector<std::string> hosts_;
  transport::HostTraffic start_;  // counters as they stood
  double idle_ethernet_bytes_per_s_ = 0;
  std::vector<int64_t> bytes_at_start_;
  Stopwatch since_start_;
};

}  // namespace lockstep::train
