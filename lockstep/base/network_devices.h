// The network devices of this host: how fast each is said to be, and what it has sent.
//
// Read below `root`, which is empty but in tests:
//   sys/class/infiniband/DEV/ports/P/{link_layer,rate,state,counters/port_xmit_data,hw_counters/tx_bytes}
//   sys/class/infiniband/DEV/device/{vendor,numa_node}
//   sys/class/net/IF/speed     proc/self/net/dev, which unlike sysfs is always that of this network namespace
// Sources: Linux' Documentation/ABI/{stable,testing}/sysfs-class-infiniband and sysfs-class-net,
// drivers/infiniband/hw/efa/efa_verbs.c. Files that are not there, as most of them in a container, leave
// their value absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct NetworkDevice {
  enum class Kind { kEfa, kIb, kRoce, kEthernet };

  std::string name;
  Kind kind = Kind::kEthernet;
  std::optional<int64_t> line_rate;   // bytes per second, one way, of all active ports
  std::optional<int64_t> sent_bytes;  // payload for EFA, headers included for the others
  std::optional<int> numa_node;
};

// All but the loopback, sorted by kind and name. RoCE devices are also listed by their interface.
std::vector<NetworkDevice> network_devices(const std::string& root = "");

}  // namespace lockstep
