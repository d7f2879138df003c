#include "lockstep/bench/line_rate.h"

#include <filesystem>
#include <fstream>
#include <sstream>

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
  // "=eth0" is NCCL's way to name one interface exactly.
  std::string interface = chosen.starts_with('=') ? chosen.substr(1) : chosen;
  if (interface.empty() || !std::filesystem::exists(root + "/sys/class/net/" + interface))
    interface = default_interface(root);
  const std::string path = "/sys/class/net/" + interface + "/speed";
  double mbit_per_s = 0;  // the kernel lists -1, or gives an error, where it does not know
  if (interface.empty() || !(std::ifstream(root + path) >> mbit_per_s) || mbit_per_s <= 0)
    return std::nullopt;
  return LineRate{mbit_per_s / 1000, path};
}

}  // namespace lockstep::bench
