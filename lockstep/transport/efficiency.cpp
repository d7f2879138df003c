#include "lockstep/transport/efficiency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace lockstep::transport {
namespace {

using Kind = NetworkDevice::Kind;

Kind kind_of(Transport transport) {
  switch (transport) {
    case Transport::kEfa:
      return Kind::kEfa;
    case Transport::kIb:
      return Kind::kIb;
    case Transport::kRoce:
      return Kind::kRoce;
    default:
      return Kind::kEthernet;
  }
}

std::vector<NetworkDevice> used_devices(const HostLinks& host, Transport transport) {
  std::vector<NetworkDevice> used;
  const Kind kind = kind_of(transport);
  for (const NetworkDevice& device : host.devices) {
    const bool is_named =
        std::find(host.interfaces.begin(), host.interfaces.end(), device.name) != host.interfaces.end();
    if (device.kind == kind && (kind != Kind::kEthernet || is_named)) used.push_back(device);
  }
  return used;
}

// Absent unless every device says its rate: a part of the sum would make the share look good.
std::optional<double> line_rate_of(const std::vector<NetworkDevice>& devices) {
  double sum = 0;
  for (const NetworkDevice& device : devices) {
    if (!device.line_rate) return std::nullopt;
    sum += static_cast<double>(*device.line_rate);
  }
  return devices.empty() ? std::nullopt : std::optional(sum);
}

std::vector<std::string> likely_causes(const JobVerdict& verdict, const std::vector<HostLinks>& hosts) {
  std::vector<std::string> causes;
  if (verdict.transport == Transport::kSocket || verdict.transport == Transport::kOfiTcp) {
    causes.push_back(
        "TCP: more sockets help on fast links (NCCL_SOCKET_NTHREADS=4, NCCL_NSOCKS_PERTHREAD=4), as do "
        "larger kernel "
        "buffers (net.core.rmem_max, net.core.wmem_max)");
  }
  if (verdict.gpu_direct == GpuDirect::kNo) {
    causes.push_back(
        "no GPUDirect: data passes through host memory, as is normal on g5, g6 and g6e, and a fault "
        "elsewhere "
        "(nvidia-peermem or DMA-BUF is missing)");
  }
  if (std::set<uint32_t> counts(verdict.device_counts.begin(), verdict.device_counts.end());
      !counts.empty()) {
    for (const HostLinks& host : hosts) {
      const auto present = used_devices(host, verdict.transport).size();
      if (*counts.begin() >= present) continue;
      causes.push_back(
          fmt::format("{} of {} devices of {} are used by some process: ask for all of them in the pod "
                      "(vpc.amazonaws.com/efa), or check their state",
                      *counts.begin(), present, host.host));
      break;
    }
  }
  for (const HostLinks& host : hosts) {
    std::set<int> nodes;
    const auto used = used_devices(host, verdict.transport);
    for (const NetworkDevice& device : used) {
      if (device.numa_node) nodes.insert(*device.numa_node);
    }
    if (used.size() < 2 || nodes.size() != 1) continue;
    causes.push_back(
        fmt::format("all {} devices of {} are on NUMA node {}: GPUs of other nodes reach them through "
                    "the processor",
                    used.size(), host.host, *nodes.begin()));
    break;
  }
  return causes;
}

}  // namespace

double Bandwidth::bus_bytes_per_s() const {
  return seconds > 0 ? static_cast<double>(bytes) / seconds * (ranks - 1) / ranks : 0;
}

EfficiencyVerdict judge_efficiency(const Bandwidth& measured, const JobVerdict& verdict,
                                   const std::vector<HostLinks>& hosts, double wanted) {
  EfficiencyVerdict efficiency{.bus_bytes_per_s = measured.bus_bytes_per_s()};
  bool all_known = !hosts.empty();
  for (const HostLinks& host : hosts) {
    const auto rate = line_rate_of(used_devices(host, verdict.transport));
    all_known = all_known && rate.has_value();
    if (rate) efficiency.line_rate = std::min(*rate, efficiency.line_rate.value_or(*rate));
  }
  if (!all_known) efficiency.line_rate.reset();
  if (efficiency.line_rate) efficiency.share = efficiency.bus_bytes_per_s / *efficiency.line_rate;
  if (!efficiency.share || *efficiency.share < std::max(0.5, wanted))
    efficiency.causes = likely_causes(verdict, hosts);
  return efficiency;
}

std::vector<std::string> socket_interfaces(std::string_view log) {
  constexpr std::string_view kLine = "NET/Socket : Using ";
  std::vector<std::string> names;
  const size_t start = log.rfind(kLine);
  if (start == log.npos) return names;
  std::string_view rest = log.substr(start + kLine.size());
  rest = rest.substr(0, rest.find('\n'));
  // Entries are "[n]name:address<port>".
  for (size_t open = rest.find('['); open != rest.npos; open = rest.find('[', open + 1)) {
    const size_t close = rest.find(']', open);
    const size_t colon = close == rest.npos ? rest.npos : rest.find(':', close);
    if (colon == rest.npos) break;
    const std::string_view index = rest.substr(open + 1, close - open - 1);
    const bool is_index = !index.empty() && index.find_first_not_of("0123456789") == index.npos;
    if (is_index) names.emplace_back(rest.substr(close + 1, colon - close - 1));  // "[fe80::1]" is an address
  }
  return names;
}

}  // namespace lockstep::transport
