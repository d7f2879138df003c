// NCCL's and aws-ofi-nccl's lines that say which network a process will use, and with what.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::transport {

// The X of "Using network X" and, since 2.27, "Assigned NET plugin X to comm". One for each
// communicator, before its lines; before 2.18 one for each process.
std::optional<std::string_view> parse_network(std::string_view text);

struct ProviderLine {
  std::string_view provider;  // "efa", "tcp;ofi_rxm"
  std::string_view fabric;    // "efa-direct", since plugin 1.14; else empty
  uint32_t num_nics = 0;      // 0 where it is not printed
  bool is_whole = false;      // more follows the provider's name, so that it is not cut
};

// "NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)", since plugin 1.14
// "NET/OFI Selected Provider is efa (found 4 nics)"                        1.6 to 1.13
// "NET/OFI Selected Provider is efa"                                       before
// The plugin may select more than once; the last one before the network's name counts.
std::optional<ProviderLine> parse_provider(std::string_view text);

// The plugin gave up: its provider is not used.
bool is_ofi_failure(std::string_view text);

// "NCCL_IB_DISABLE set by environment to 1.", "NCCL_IB_HCA set to mlx5_0". It proves nothing: it may name
// what is not there.
struct EnvironmentLine {
  std::string_view name, value;
};
std::optional<EnvironmentLine> parse_environment(std::string_view text);

enum class Library { kNccl, kPlugin, kLibfabric };

struct VersionLine {
  Library library = Library::kNccl;
  std::string_view version;  // "2.21.5+cuda12.4", "1.17.2", "2.3"
};

// "NCCL version ...", "NET/OFI Initializing aws-ofi-nccl ..." (before 1.7 "Using"), "NET/OFI Using
// Libfabric version ...".
std::optional<VersionLine> parse_version(std::string_view text);

// Whether NCCL of this version opens connections only when they are first used: 2.22 and newer.
bool connects_on_use(std::string_view nccl_version);
// Whether it names the network once a process, not once a communicator: before 2.18.
bool selects_once(std::string_view nccl_version);
// Whether aws-ofi-nccl of this version always prints the number of devices with the provider: 1.6
// and newer.
bool counts_nics(std::string_view plugin_version);

// The words for a plugin file that is not there changed with NCCL's releases, so two wordings in
// one job are two NCCL versions. 0 for other text; else 1 for up to 2.20, 2 for 2.21, 3 for 2.22
// to 2.25, 4 for 2.26, 5 for 2.27, 6 for 2.28 and newer.
uint8_t plugin_wording(std::string_view text);
std::string_view versions_of_wording(uint8_t wording);  // "2.22 to 2.25"

}  // namespace lockstep::transport
