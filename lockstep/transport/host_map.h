// Which process ran on which host, and which parts of logs are one process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/transport/log_evidence.h"

namespace lockstep::transport {

struct HostMap {
  static constexpr int kUnknown = -1;   // several hosts share its name and nothing tells them apart
  static constexpr int kFragment = -2;  // no process: a piece of a line that looks like one

  std::vector<std::string> names;  // of the hosts; with address or node where several share a name
  std::vector<bool> doubtful;      // "localhost" without an address: may be several hosts
  std::vector<int> host_of;        // by process: index into names, kUnknown or kFragment
  std::vector<uint32_t> process;   // by process: the first of those that are the same process
};

// A host is a name together with what tells hosts of one name apart: the address of NCCL's
// bootstrap, else Ray's ip= or kubectl's pod. Lines of several writers into one pipe leave false
// names ("NCnode-0"): those that end like another one are taken for it, and a name on fewer than
// three lines of all logs is none.
// The same process id on the same host is the same process, also in different files.
HostMap map_hosts(const LogEvidence& evidence);

}  // namespace lockstep::transport
