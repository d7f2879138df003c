// Networks by the names that NCCL prints, and what each of them is.
#pragma once

#include <cstdint>
#include <string_view>

#include "lockstep/transport/transport_word.h"

namespace lockstep::transport {

// Whether `name` can be a network's name, known or not: up to 64 letters, digits, blanks and "._-+;".
bool is_net_name(std::string_view name);

// What NET/IB's devices are linked by, as bits.
using LinkLayers = uint8_t;
inline constexpr LinkLayers kInfiniBand = 1, kEthernet = 2, kOtherLink = 4;

// What network `net` is, given libfabric's provider (for the OFI plugin, else ignored) and the
// link layers of the devices in use (for the verbs networks, else ignored). kUnknown when either
// is missing, and for every name that is not known: a name proves nothing by itself.
//   OFI       "AWS Libfabric", "Libfabric", "OFI": efa for provider "efa" exactly; TCP for "tcp",
//             "tcp;ofi_rxm", "sockets" and "net"; other providers ("efa;ofi_rxd", "verbs") unknown
//   verbs     "IB", and HPC-X' "IBext", "IBext_v8": InfiniBand or RoCE by the link layer
//   "Socket"
Transport transport_of(std::string_view net, std::string_view provider, LinkLayers links);

bool is_known_net(std::string_view net);  // one of those above
bool is_ofi(std::string_view net);
bool is_verbs(std::string_view net);

}  // namespace lockstep::transport
