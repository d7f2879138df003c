#include "lockstep/base/network_devices.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using Kind = NetworkDevice::Kind;

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<int64_t> number(const fs::path& path) {
  const auto line = first_line(path);
  int64_t value = 0;
  if (!line || std::from_chars(line->data(), line->data() + line->size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void add(std::optional<int64_t>& sum, std::optional<int64_t> value) {
  if (value) sum = sum.value_or(0) + *value;
}

// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)".
std::optional<int64_t> rate_bytes(const std::optional<std::string>& rate) {
  if (!rate) return std::nullopt;
  std::istringstream text(*rate);
  double gigabits = 0;
  std::string unit;
  if (!(text >> gigabits >> unit) || unit != "Gb/sec") return std::nullopt;
  return static_cast<int64_t>(gigabits * 1e9 / 8);
}

NetworkDevice verbs_device(const fs::path& folder) {
  constexpr int64_t kAmazon = 0x1d0f;
  NetworkDevice device{.name = folder.filename().string()};
  int64_t vendor = 0;
  if (const auto text = first_line(folder / "device/vendor"); text && text->starts_with("0x")) {
    std::from_chars(text->data() + 2, text->data() + text->size(), vendor, 16);
  }
  bool is_ethernet = false;
  std::optional<int64_t> efa_bytes, verbs_words;
  for (const fs::path& port : entries(folder / "ports")) {
    is_ethernet = is_ethernet || first_line(port / "link_layer") == "Ethernet";
    const auto state = first_line(port / "state");  // "4: ACTIVE"
    if (!state || state->starts_with("4:")) add(device.line_rate, rate_bytes(first_line(port / "rate")));
    add(efa_bytes, number(port / "hw_counters/tx_bytes"));
    add(verbs_words, number(port / "counters/port_xmit_data"));
  }
  device.kind = vendor == kAmazon ? Kind::kEfa : is_ethernet ? Kind::kRoce : Kind::kIb;
  if (device.kind == Kind::kEfa) {
    device.sent_bytes = efa_bytes;
  } else if (verbs_words) {
    device.sent_bytes = 4 * *verbs_words;  // the counter's unit is 32 bits
  }
  if (const auto node = number(folder / "device/numa_node"); node && *node >= 0) {
    device.numa_node = static_cast<int>(*node);
  }
  return device;
}

// A line is "  eth0: <8 numbers received> <bytes sent> ...", after two of headings.
std::vector<NetworkDevice> interfaces(const fs::path& root) {
  std::vector<NetworkDevice> found;
  std::ifstream file(root / "proc/self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream columns(line.substr(colon + 1));
    int64_t value = 0;
    for (int column = 0; column < 9 && columns; ++column) columns >> value;
    NetworkDevice device{.name =
                             line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '))};
    if (!columns || device.name == "lo") continue;
    device.sent_bytes = value;
    const auto megabits = number(root / "sys/class/net" / device.name / "speed");  // -1: not known
    if (megabits && *megabits > 0) device.line_rate = *megabits * 1'000'000 / 8;
    if (const auto node = number(root / "sys/class/net" / device.name / "device/numa_node");
        node && *node >= 0) {
      device.numa_node = static_cast<int>(*node);
    }
    found.push_back(device);
  }
  return found;
}

}  // namespace

std::vector<NetworkDevice> network_devices(const std::string& given_root) {
  const fs::path root = given_root.empty() ? "/" : given_root;
  std::vector<NetworkDevice> devices = interfaces(root);
  for (const fs::path& folder : entries(root / "sys/class/infiniband"))
    devices.push_back(verbs_device(folder));
  std::sort(devices.begin(), devices.end(), [](const NetworkDevice& a, const NetworkDevice& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  return devices;
}

}  // namespace lockstep
