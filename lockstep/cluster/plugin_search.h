// The network plugin that NCCL would load, by NCCL's own rules for its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/cluster/node.h"

namespace lockstep::cluster {

struct PluginSearch {
  bool off = false;                // NCCL_NET_PLUGIN=none
  std::string setting;             // NCCL_NET_PLUGIN; empty: not set
  std::vector<std::string> tried;  // names, in NCCL's order
  std::string name;                // the first that is there; empty: none is
  LibraryProbe probe;              // of `name`: it may not load all the same
  std::string installed;  // without `name`: a plugin's file in a usual folder that the loader does not search

  // NCCL_NET_PLUGIN holds names or suffixes, separated by commas: of "ofi" first a library "ofi" is tried,
  // then libnccl-net-ofi.so. Where it is not set, libnccl-net.so.
  static PluginSearch of(const Node& node);
};

std::string nccl_version_text(int nccl_version);  // 22809: "2.28.9"

// The versions N of ncclNetPlugin_vN that a NCCL takes.
struct NetApiRange {
  int oldest = 0, newest = 0;
};
NetApiRange net_apis_of_nccl(int nccl_version);

}  // namespace lockstep::cluster
