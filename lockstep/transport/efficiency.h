// Whether a network that is the right one is also as fast as it should be: a verdict of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/network_devices.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// What a probe measured: an all-gather of `bytes` in all over `ranks`, nccl-tests' bus bandwidth.
struct Bandwidth {
  int ranks = 0;
  int64_t bytes = 0;
  double seconds = 0;  // of one

  double bus_bytes_per_s() const;  // bytes / seconds (W-1)/W: what a ring sends out of each host
};

// What one host offers to the transport that was selected.
struct HostLinks {
  std::string host;
  std::vector<NetworkDevice> devices;   // all of them
  std::vector<std::string> interfaces;  // those that TCP was told to use; empty: not known
};

struct EfficiencyVerdict {
  double bus_bytes_per_s = 0;
  std::optional<double> line_rate;  // bytes per second of the slowest host's devices; absent: not known
  std::optional<double> share;      // of the line rate
  std::vector<std::string> causes;  // why it may be slow, with what to do
};

// Causes are looked for below half the line rate, or below `wanted` if that is more.
EfficiencyVerdict judge_efficiency(const Bandwidth& measured, const JobVerdict& verdict,
                                   const std::vector<HostLinks>& hosts, double wanted);

// The interfaces that NCCL's TCP uses, from the log of one process: "NET/Socket : Using [0]eth0:10.0.0.1<0>".
std::vector<std::string> socket_interfaces(std::string_view log);

}  // namespace lockstep::transport
