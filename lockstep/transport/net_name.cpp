#include "lockstep/transport/net_name.h"

#include <algorithm>

#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

Transport ofi_transport(std::string_view provider) {
  if (provider == "efa") return Transport::kEfa;
  if (provider == "tcp" || provider == "tcp;ofi_rxm" || provider == "sockets" || provider == "net")
    return Transport::kOfiTcp;
  return Transport::kUnknown;
}

}  // namespace

bool is_net_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == ' ' || name.back() == ' ') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return TextScanner::is_word(c) || c == ' ' || c == '.' || c == '-' || c == '+' || c == ';';
  });
}

bool is_known_net(std::string_view net) { return net == "Socket" || is_ofi(net) || is_verbs(net); }

bool is_ofi(std::string_view net) { return net == "AWS Libfabric" || net == "Libfabric" || net == "OFI"; }

bool is_verbs(std::string_view net) {
  TextScanner scanner(net);
  uint32_t version = 0;
  if (!scanner.take("IB")) return false;
  if (scanner.at_end()) return true;
  if (!scanner.take("ext")) return false;
  return scanner.at_end() || (scanner.take("_v") && scanner.number(version) && scanner.at_end());
}

Transport transport_of(std::string_view net, std::string_view provider, LinkLayers links) {
  if (net == "Socket") return Transport::kSocket;
  if (is_ofi(net)) return ofi_transport(provider);
  if (is_verbs(net)) {
    if (links == kInfiniBand) return Transport::kIb;
    if (links == kEthernet) return Transport::kRoce;
  }
  return Transport::kUnknown;
}

}  // namespace lockstep::transport
