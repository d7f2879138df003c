#include "lockstep/transport/ib_devices.h"

#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

constexpr size_t kMaxDevices = 64;  // NCCL's own limit is 32

// Passes "mlx5_0:1/IB", "mlx5_0:1:2:0/RoCE" and "mlx5_0:1/IB/SHARP"; what follows must show that
// the entry is whole.
bool parse_device(TextScanner& scanner, LinkLayers& links) {
  const size_t end = scanner.rest().find_first_of(" ,};");
  if (end == std::string_view::npos) return false;
  std::string_view entry = scanner.rest().substr(0, end);
  scanner.take(entry);
  take_at_end(entry, "/SHARP");
  const size_t slash = entry.rfind('/');
  if (slash == entry.npos || entry.find(':') > slash) return false;
  const std::string_view link = entry.substr(slash + 1);
  links |= link == "IB" ? kInfiniBand : link == "RoCE" ? kEthernet : kOtherLink;
  return true;
}

// Passes "{[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}".
bool parse_merged(TextScanner& scanner, LinkLayers& links) {
  uint32_t part = 0;
  do {
    if (!scanner.take('[') || !scanner.number(part) || !scanner.take("] ") || !parse_device(scanner, links))
      return false;
  } while (scanner.take(", "));
  return scanner.take('}');
}

}  // namespace

std::optional<IbDevices> IbDevices::parse(std::string_view text) {
  TextScanner scanner(text);
  if (!scanner.take("NET/IB : Using ")) return std::nullopt;
  IbDevices devices;
  uint32_t index = 0;
  while (devices.links_.size() < kMaxDevices && scanner.take('[') && scanner.number(index) &&
         scanner.take(']')) {
    LinkLayers links = 0;
    if (!(scanner.take("={") ? parse_merged(scanner, links) : parse_device(scanner, links))) break;
    devices.links_.push_back({index, links});
    if (!scanner.blanks()) break;
  }
  return devices;
}

LinkLayers IbDevices::all() const {
  LinkLayers links = 0;
  for (const Entry& entry : links_) links |= entry.links;
  return links;
}

LinkLayers IbDevices::of(uint32_t device) const {
  for (const Entry& entry : links_) {
    if (entry.device == device) return entry.links;
  }
  return all();
}

}  // namespace lockstep::transport
