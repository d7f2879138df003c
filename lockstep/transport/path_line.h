// NCCL's path lines: over what two ranks are connected.
//
//   Channel 00/0 : 7[7] -> 8[0] [send] via NET/AWS Libfabric/0(3)/GDRDMA(PCI)/Shared
//   Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read            Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
//   CollNet 00/0 : 3 [receive] via COLLNET/SHARP/0/GDRDMA
// RCCL appends " comm 0x55aa nRanks 02".
// NCCL before 2.18: "Channel 01 : 9[101d0] -> 0[101c0] [receive] via NET/...", "Ring 00 : 7 -> 8 ...".
// Each end of a network connection prints its own line; of P2P and SHM only the sender does. The
// lines name no communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::transport {

struct PathLine {
  enum class Medium { kNet, kCollNet, kP2p, kMnnvl, kShm };
  Medium medium = Medium::kNet;
  uint32_t own_rank = 0;   // in its communicator, of the process that printed the line
  uint32_t peer_rank = 0;  // equals own_rank for CollNet, which has no single peer
  // In brackets: nvmlDev since 2.18.3, before it the PCI bus id in hexadecimal; empty where absent.
  std::string_view own_label, peer_label;
  bool is_sender = true;
  std::string_view net;     // "AWS Libfabric": kNet and kCollNet
  uint32_t net_device = 0;  // index into the network's own list of devices
  bool gpu_direct = false;
  bool before_2_18 = false;  // in a form that only older versions print
};

// Nothing for other text, and for a path line that does not end where one may end: a cut
// "via NET/Libfabric/1/GDRD" or "via NET/Sock" says nothing.
std::optional<PathLine> parse_path_line(std::string_view text);

}  // namespace lockstep::transport
