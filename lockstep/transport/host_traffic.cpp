#include "lockstep/transport/host_traffic.h"

namespace lockstep::transport {
namespace {

void add(std::optional<int64_t>& sum, const std::optional<int64_t>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

std::optional<int64_t> difference(const std::optional<int64_t>& then, const std::optional<int64_t>& now) {
  return now && then ? std::optional(*now - *then) : std::nullopt;
}

}  // namespace

HostTraffic counters_of(const std::vector<NetworkDevice>& devices) {
  HostTraffic traffic;
  for (const NetworkDevice& device : devices) {
    switch (device.kind) {
      case NetworkDevice::Kind::kEfa:
        add(traffic.efa_bytes, device.sent_bytes);
        break;
      case NetworkDevice::Kind::kIb:
      case NetworkDevice::Kind::kRoce:
        add(traffic.verbs_bytes, device.sent_bytes);
        break;
      case NetworkDevice::Kind::kEthernet:
        add(traffic.ethernet_bytes, device.sent_bytes);
        break;
    }
  }
  return traffic;
}

HostTraffic sent_between(const HostTraffic& then, const HostTraffic& now) {
  HostTraffic sent{.host = now.host};
  sent.efa_bytes = difference(then.efa_bytes, now.efa_bytes);
  sent.verbs_bytes = difference(then.verbs_bytes, now.verbs_bytes);
  sent.ethernet_bytes = difference(then.ethernet_bytes, now.ethernet_bytes);
  return sent;
}

}  // namespace lockstep::transport
