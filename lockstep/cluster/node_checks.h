// What `lockstep doctor node` looks at, a function each. None throws for what it finds.
#pragma once

#include <optional>
#include <vector>

#include "lockstep/cluster/check.h"
#include "lockstep/cluster/image/image_lock.h"
#include "lockstep/cluster/network_devices.h"
#include "lockstep/cluster/node.h"
#include "lockstep/cluster/plugin_search.h"

namespace lockstep::cluster {

// The kernel's part of NVIDIA's driver, against libcuda's and the CUDA that Lockstep was built for.
Check check_driver(const Node& node, const CudaDriver& driver);
Check check_gpus(const Node& node, const CudaDriver& driver);

Check check_locked_memory(const Node& node, const NetworkDevices& devices);
Check check_shared_memory(const Node& node, const CudaDriver& driver);
Check check_huge_pages(const Node& node, const NetworkDevices& devices);

// /dev/infiniband against /sys/class/infiniband.
Check check_verbs(const NetworkDevices& devices);
// `fi_info -p efa`.
Check check_efa_provider(const Node& node, const NetworkDevices& devices);
Check check_plugin(const PluginSearch& plugin, const LibraryProbe& nccl, const NetworkDevices& devices);
// The variable names interfaces that there are: NCCL's by its prefixes "^" and "=", Gloo's exactly.
Check check_nccl_interface(const Node& node);
Check check_gloo_interface(const Node& node);

// Versions by the names of a lock; what is not there is left out.
std::map<std::string, std::string> found_versions(const Node& node, const LibraryProbe& nccl,
                                                  const LibraryProbe& fabric, const PluginSearch& plugin);
Check check_versions(const std::map<std::string, std::string>& found);
Check check_lock(const Node& node, const std::map<std::string, std::string>& found,
                 const std::optional<ImageLock>& lock);

// All of them, in this order. Some seconds where there is a GPU.
std::vector<Check> check_node(const Node& node, const std::optional<ImageLock>& lock);

}  // namespace lockstep::cluster
