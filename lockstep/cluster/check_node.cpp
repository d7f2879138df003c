#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
namespace {

// Torch's wheels bring NCCL in a package beside their own, which goes before any other.
LibraryProbe probe_nccl(const Node& node) {
  const std::string bundled = node.torch_folder + "/../../nvidia/nccl/lib/libnccl.so.2";
  return node.probe(!node.torch_folder.empty() && node.exists(bundled) ? node.root + bundled
                                                                       : "libnccl.so.2");
}

// By the loader, then where EFA's installer puts it.
LibraryProbe probe_fabric(const Node& node) {
  const std::string name = "libfabric.so.1";
  LibraryProbe found = node.probe(name);
  for (const char* folder : {"/opt/amazon/efa/lib/", "/opt/amazon/efa/lib64/"}) {
    if (!is_not_found(name, found.error)) break;
    if (node.exists(folder + name)) found = node.probe(node.root + folder + name);
  }
  return found;
}

}  // namespace

std::vector<Check> check_node(const Node& node, const std::optional<ImageLock>& lock) {
  // Libraries first: they are tried in children of this process, before it loads a driver, which has threads.
  const LibraryProbe nccl = probe_nccl(node);
  const LibraryProbe fabric = probe_fabric(node);
  const PluginSearch plugin = PluginSearch::of(node);
  const NetworkDevices devices = NetworkDevices::of(node);
  const auto versions = found_versions(node, nccl, fabric, plugin);
  const CudaDriver driver = node.cuda_driver();
  return {check_driver(node, driver),         check_gpus(node, driver),
          check_locked_memory(node, devices), check_shared_memory(node, driver),
          check_huge_pages(node, devices),    check_verbs(devices),
          check_efa_provider(node, devices),  check_plugin(plugin, nccl, devices),
          check_nccl_interface(node),         check_gloo_interface(node),
          check_versions(versions),           check_lock(node, versions, lock)};
}

}  // namespace lockstep::cluster
