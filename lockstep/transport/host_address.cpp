#include "lockstep/transport/host_address.h"

#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

// Passes the words before the address.
bool take_introduction(TextScanner& scanner) {
  if (scanner.take("Bootstrap : Using ") || scanner.take("Bootstrap: Using ")) return true;
  if (scanner.take("NET/Socket : Using [0]")) return true;
  if (!scanner.rest().starts_with("NET/IB : Using ")) return false;
  constexpr std::string_view kOutOfBand = "; OOB ";
  const size_t at = scanner.rest().find(kOutOfBand);
  if (at == std::string_view::npos) return false;
  scanner = TextScanner(scanner.rest().substr(at + kOutOfBand.size()));
  return true;
}

}  // namespace

std::optional<HostAddress> parse_host_address(std::string_view text) {
  TextScanner scanner(text);
  HostAddress address;
  uint32_t port = 0;
  if (!take_introduction(scanner)) return std::nullopt;
  scanner.take("[0]");  // before 2.12 the bootstrap's line numbers its interfaces too
  if (!scanner.until(':', address.interface) || !scanner.until('<', address.ip) || !scanner.number(port) ||
      !scanner.take('>')) {
    return std::nullopt;
  }
  if (address.interface.empty() || address.interface.size() > 64 || address.ip.empty() ||
      address.ip.size() > 64)
    return std::nullopt;
  return address;
}

bool is_loopback(std::string_view ip) { return ip.starts_with("127.") || ip == "::1"; }

}  // namespace lockstep::transport
