// What the link between hosts can carry by its listing: what a bus bandwidth is judged against.
#pragma once

#include <optional>
#include <string>

namespace lockstep::bench {

struct LineRate {
  double gbit_per_s = 0;
  std::string source;  // "--line-rate", "/sys/class/net/eth0/speed"

  double gbyte_per_s() const { return gbit_per_s / 8; }
};

// The speed that the kernel lists for the interface that collectives use: the one that
// NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME names in full (`chosen`, may be empty), else that of the default
// route. Nothing where there is none or it lists no speed, as most virtual ones. `root` is put before the
// paths: "" but for tests. Which of EFA's and InfiniBand's devices
// collectives take is not known here, so theirs are not looked at.
std::optional<LineRate> listed_line_rate(const std::string& root, const std::string& chosen);

}  // namespace lockstep::bench
