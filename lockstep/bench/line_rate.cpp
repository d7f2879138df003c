#include "lockstep/bench/line_rate.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "lockstep/base/network_devices.h"

namespace lockstep::bench {
namespace {

// /proc/net/route: Iface Destination Gateway Flags ...; destination 0 is the default route.
std::string default_interface(const std::string& root) {
  std::ifstream routes(root + "/proc/net/route");
  for (std::string line; std::getline(routes, line);) {
    std::istringstream words(line);
    std::string interface, destination;
    if (words >> interface >> destination && destination == "00000000") return interface;
  }
  return "";
}

}  // namespace

std::optional<LineRate> listed_line_rate(const std::string& root, const std::string& chosen) {
  const auto devices = network_devices(root);
  const auto find = [&](const std::string& name) {
    return std::find_if(devices.begin(), devices.end(), [&](const NetworkDevice& device) {
      return device.kind == NetworkDevice::Kind::kEthernet && device.name == name;
    });
  };
  // "=eth0" is NCCL's way to name one interface exactly.
  auto device = find(chosen.starts_with('=') ? chosen.substr(1) : chosen);
  if (device == devices.end()) device = find(default_interface(root));
  if (device == devices.end() || !device->line_rate) return std::nullopt;
  return LineRate{static_cast<double>(*device->line_rate) * 8 / 1e9,
                  "/sys/class/net/" + device->name + "/speed"};
}

}  // namespace lockstep::bench
