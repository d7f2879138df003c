// The devices that carry bytes between hosts past the kernel: EFA, InfiniBand, RoCE.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/node.h"

namespace lockstep::cluster {

struct NetworkDevices {
  std::vector<std::string> efa;     // names below /sys/class/infiniband, Amazon's
  std::vector<std::string> others;  // InfiniBand and RoCE
  std::vector<std::string> nodes;   // uverbs*, below /dev/infiniband: what a program may open

  bool any() const { return !efa.empty() || !others.empty(); }
  // In a container /sys shows the host's devices; only those with a node can be used.
  bool usable() const { return any() && !nodes.empty(); }
  bool usable_efa() const { return !efa.empty() && !nodes.empty(); }
  // "2 EFA (rdmap16s27, rdmap32s27), 1 InfiniBand or RoCE (mlx5_0)".
  std::string words() const;

  static NetworkDevices of(const Node& node);
};

}  // namespace lockstep::cluster
