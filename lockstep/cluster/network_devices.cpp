#include "lockstep/cluster/network_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::cluster {
namespace {

constexpr const char* kAmazonVendor = "0x1d0f";

}  // namespace

NetworkDevices NetworkDevices::of(const Node& node) {
  NetworkDevices devices;
  for (const std::string& name : node.list("/sys/class/infiniband")) {
    const bool amazon = node.read("/sys/class/infiniband/" + name + "/device/vendor") == kAmazonVendor;
    (amazon ? devices.efa : devices.others).push_back(name);
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
