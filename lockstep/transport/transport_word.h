// The words of a transport verdict.
#pragma once

#include <string_view>

namespace lockstep::transport {

// What carries the bytes between two ranks on different hosts.
enum class Transport {
  kUnknown,  // not enough evidence, or a network that this program does not know; never a pass
  kNone,     // nothing goes through a network interface: one host, or NVLink across hosts
  kEfa,      // libfabric's efa provider
  kIb,       // verbs over an InfiniBand link
  kRoce,     // verbs over an Ethernet link
  kSocket,   // NCCL's own TCP
  kOfiTcp,   // TCP inside libfabric: slow although the plugin is in use
  kMixed,    // ranks or communicators disagree
};

// How far the evidence goes; each level contains the one before.
enum class Level {
  kNothing,
  kSelected,   // every rank said which network it would use
  kConnected,  // and rank pairs across all hosts connected over it, both ends seen
  kMoved,      // and network counters grew by the expected bytes
};

// Whether the network reads and writes GPU memory itself.
enum class GpuDirect { kUnknown, kYes, kNo };

std::string_view word(Transport transport);   // "efa", "ofi-tcp", ...
std::string_view word(Level level);           // "nothing", "selected", "connected", "moved"
std::string_view word(GpuDirect gpu_direct);  // "yes", "no", "unknown"

}  // namespace lockstep::transport
