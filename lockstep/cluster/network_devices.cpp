#include "lockstep/cluster/network_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/network_devices.h"

namespace lockstep::cluster {
NetworkDevices NetworkDevices::of(const Node& node) {
  NetworkDevices devices;
  for (const NetworkDevice& device : network_devices(node.root)) {
    if (device.kind == NetworkDevice::Kind::kEthernet) continue;
    (device.kind == NetworkDevice::Kind::kEfa ? devices.efa : devices.others).push_back(device.name);
  }
  for (const std::string& name : node.list("/dev/infiniband")) {
    if (name.starts_with("uverbs")) devices.nodes.push_back(name);
  }
  return devices;
}

std::string NetworkDevices::words() const {
  std::string text;
  if (!efa.empty()) text = fmt::format("{} EFA ({})", efa.size(), fmt::join(efa, ", "));
  if (!others.empty()) {
    text += fmt::format("{}{} InfiniBand or RoCE ({})", text.empty() ? "" : ", ", others.size(),
                        fmt::join(others, ", "));
  }
  return text;
}

}  // namespace lockstep::cluster
