#include "lockstep/transport/clue.h"

namespace lockstep::transport {
namespace {

constexpr std::string_view kMissingDependency = ": cannot open shared object file";

constexpr Clue kClues[] = {
    {"", "version `FABRIC_", kFallback,
     "the libfabric that is loaded is older than the one the plugin was built with",
     "put the EFA installer's libfabric (/opt/amazon/efa/lib) first on LD_LIBRARY_PATH; copies from conda or "
     "pip "
     "often stand before it"},
    {"", "version `EFA_", kFallback, "rdma-core's libefa is older than libfabric needs",
     "install rdma-core and libfabric from one EFA installer, and take other copies off LD_LIBRARY_PATH"},
    {"NET/OFI", "EFA provider requires at least libfabric version", kFallback,
     "the plugin found EFA and refused it: the libfabric that is loaded is too old for this plugin",
     "update the EFA installer (aws-ofi-nccl 1.13 and newer need libfabric 1.22), and take older copies off "
     "LD_LIBRARY_PATH"},
    {"NET/OFI", "GDR disabled on GDR-supported instance", kFallback | kNoGpuDirect,
     "the instance type has GPUDirect RDMA, but the kernel offers it no path to GPU memory",
     "load efa_nv_peermem or nvidia-peermem, or use the open GPU driver with a kernel of 5.12 or newer "
     "(DMA-BUF)"},
    {"NET/Plugin", "ncclNetPlugin symbol (>= v", kFallback, "the plugin's interface is too old for this NCCL",
     "update aws-ofi-nccl: NCCL 2.26 and newer need 1.7 or newer"},
    {"External network plugin", "is unsupported", kFallback,
     "the plugin's interface is too old for this NCCL",
     "update aws-ofi-nccl: NCCL 2.26 and newer need 1.7 or newer"},
    {"libfabric:", "Failed to open EFA device", kFallback, "libfabric cannot open the EFA device",
     "give the container /dev/infiniband (in Kubernetes: request vpc.amazonaws.com/efa) and unlimited locked "
     "memory"},
    {"NET/OFI", "fi_getinfo() call failed", kFallback | kStart, "libfabric finds no EFA device here",
     "give the container /dev/infiniband (in Kubernetes: request vpc.amazonaws.com/efa); `fi_info -p efa` "
     "must list "
     "devices; the instance must have EFA interfaces attached"},
    {"NET/OFI", "No eligible providers were found", kFallback | kStart, "libfabric finds no EFA device here",
     "give the container /dev/infiniband (in Kubernetes: request vpc.amazonaws.com/efa); `fi_info -p efa` "
     "must list "
     "devices; the instance must have EFA interfaces attached"},
    {"NET/OFI", "find any optimal provider", kFallback | kStart,
     "libfabric finds no provider that the plugin takes",
     "`fi_info -p efa` must list devices; unset FI_PROVIDER"},
    {"NET/OFI", "Only EFA provider is supported", kFallback,
     "the plugin found no EFA device and takes nothing else on this platform",
     "give the container /dev/infiniband (in Kubernetes: request vpc.amazonaws.com/efa)"},
    {"NET/OFI", "Unable to find a protocol that worked", kFallback,
     "neither of the plugin's protocols works on this device",
     "unset OFI_NCCL_PROTOCOL; see the plugin's lines before this one"},
    {"NET/OFI", "Failed to initialize", kFallback, "the plugin's protocol does not start on this device",
     "unset OFI_NCCL_PROTOCOL (RDMA needs a device with RDMA write); see the plugin's and libfabric's lines "
     "before this one"},
    {"NET/OFI", "aws-ofi-nccl initialization failed", kFallback, "the plugin was loaded and gave up",
     "see the plugin's and libfabric's lines before this one; FI_LOG_LEVEL=warn makes libfabric say more"},
    {"NET/OFI", "Initializing plugin failed", kFallback, "the plugin was loaded and gave up",
     "see the plugin's and libfabric's lines before this one; FI_LOG_LEVEL=warn makes libfabric say more"},
    {"NCCL_NET_PLUGIN set by environment to none", "", kFallback, "NCCL_NET_PLUGIN=none turns the plugin off",
     "unset NCCL_NET_PLUGIN"},
    {"", "Plugin name set by env to none", kFallback, "NCCL_NET_PLUGIN=none turns the plugin off",
     "unset NCCL_NET_PLUGIN"},
    {"NCCL_NET set by environment to Socket", "", kFallback, "NCCL_NET=Socket asks for TCP",
     "unset NCCL_NET"},
    {"NCCL_IB_DISABLE set by environment to 1", "", kFallback,
     "NCCL_IB_DISABLE=1 turns InfiniBand and RoCE off", "unset NCCL_IB_DISABLE"},
    {"Failed to open libibverbs", "", kFallback, "libibverbs is not installed: no InfiniBand, no RoCE",
     "install rdma-core's libibverbs1 in the image"},
    {"NET/IB : Unable to open device", "", kFallback, "an InfiniBand device is there but cannot be opened",
     "give the container /dev/infiniband and unlimited locked memory"},
    {"Call to ibv_open_device failed", "", kFallback, "an InfiniBand device is there but cannot be opened",
     "give the container /dev/infiniband and unlimited locked memory"},
    {"NET/Plugin", kMissingDependency, kFallback, "the plugin is there, but a library that it needs is not",
     "the line names the library: install it or put its folder on LD_LIBRARY_PATH (libfabric: "
     "/opt/amazon/efa/lib)"},
    {"NET/Plugin", "libnccl-net", kFallback, "NCCL finds no network plugin",
     "put the plugin's folder on LD_LIBRARY_PATH or in ld.so's cache (EFA installer 1.44 and newer: "
     "/opt/amazon/ofi-nccl/lib), or set NCCL_NET_PLUGIN to its path; NCCL_NET set to the plugin's name "
     "makes a missing one an error"},
    {"Failed to initialize any NET plugin", "", kStart, "the network that NCCL_NET asks for does not start",
     "see the plugin's lines before this one; without NCCL_NET the job would have trained over TCP"},
    {"Error: network ", " not found", kStart, "the network that NCCL_NET asks for is not there",
     "see the plugin's lines before this one; without NCCL_NET the job would have trained over TCP"},
    {"", "no socket interface found", kStart,
     "no network interface has the name that NCCL_SOCKET_IFNAME asks for",
     "`ip link` lists the names; unset NCCL_SOCKET_IFNAME or exclude with ^docker0,lo"},
    {"NET/OFI", "Disabling shared memory failed", kStart,
     "the provider refuses an option that the plugin needs",
     "unset FI_PROVIDER; with EFA devices in the container the plugin takes efa"},
    {"NET/OFI Could not disable CUDA API usage", "", kNoGpuDirect,
     "libfabric cannot reach GPU memory without CUDA calls: data goes through host memory",
     "normal on g-class instances; on p4d, p5 and newer load efa_nv_peermem or use the open GPU driver "
     "(DMA-BUF)"},
    {"NET/OFI Need to force simple protocol", "GDR not supported", kNoGpuDirect,
     "the device has no GPUDirect RDMA: data goes through host memory",
     "normal on g-class instances; on p4d, p5 and newer load efa_nv_peermem or use the open GPU driver "
     "(DMA-BUF)"},
    {"", "GPU Direct RDMA Disabled for HCA", kNoGpuDirect, "the network adapter has no path to GPU memory",
     "load nvidia-peermem, or use the open GPU driver with a kernel of 5.12 or newer (DMA-BUF)"},
    {"NET/OFI", "register memory", kFailure, "memory could not be registered with the network adapter",
     "NCCL 2.19 and newer with an EFA installer before 1.29: set FI_EFA_SET_CUDA_SYNC_MEMOPS=0; else raise "
     "the "
     "locked-memory limit (ulimit -l unlimited)"},
    {"", "Cannot allocate memory", kFailure, "locked memory or huge pages ran out",
     "ulimit -l unlimited; in Kubernetes request hugepages-2Mi, or set FI_EFA_USE_HUGE_PAGE=0"},
    {"Mismatched NCCL version", "", kFailure, "ranks load different versions of NCCL",
     "use one image on all nodes"},
    {"NET/OFI Request", "completed with error", kFailure, "a transfer failed after the network was connected",
     "security group: allow all traffic to and from itself; all nodes in one subnet; a peer may be dead: see "
     "its log"},
};

// dlopen's "libefa.so.1: cannot open shared object file" is about the plugin itself when the
// library is the plugin.
bool is_dependency(std::string_view text) {
  const std::string_view before = text.substr(0, text.find(kMissingDependency));
  const size_t name = before.find_last_of(" =/");
  return !before.substr(name == before.npos ? 0 : name + 1).starts_with("libnccl-net");
}

bool fits(const Clue& clue, std::string_view text) {
  return text.starts_with(clue.prefix) && text.find(clue.contains) != text.npos &&
         (clue.contains != kMissingDependency || is_dependency(text));
}

}  // namespace

std::span<const Clue> clues() { return kClues; }

int find_clue(std::string_view text) {
  for (size_t i = 0; i < std::size(kClues); ++i) {
    if (fits(kClues[i], text)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace lockstep::transport
