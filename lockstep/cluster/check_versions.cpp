#include <fmt/format.h>

#include "lockstep/base/build_info.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
std::map<std::string, std::string> found_versions(const Node& node, const LibraryProbe& nccl,
                                                  const LibraryProbe& fabric, const PluginSearch& plugin) {
  std::map<std::string, std::string> found = {{"lockstep", kVersion}};
  if (const std::string driver = node.nvidia_kernel_module(); !driver.empty()) found["driver"] = driver;
  if (nccl.nccl_version) found["nccl"] = nccl_version_text(*nccl.nccl_version);
  if (fabric.fabric_version)
    found["libfabric"] = fmt::format("{}.{}", *fabric.fabric_version >> 16, *fabric.fabric_version & 0xffff);
  if (!plugin.probe.ofi_version.empty()) found["aws-ofi-nccl"] = plugin.probe.ofi_version;
  return found;
}

Check check_versions(const std::map<std::string, std::string>& found) {
  Check check{.name = "versions",
              .area = CheckArea::kNetwork,
              .why = "NCCL, its plugin and libfabric must go together, on every node alike"};
  for (const std::string& name : lockable_libraries()) {
    const auto version = found.find(name);
    check.saw += fmt::format("{}{} {}", check.saw.empty() ? "" : ", ", name,
                             version == found.end() ? "not found" : version->second);
  }
  return check;
}

Check check_lock(const Node& node, const std::map<std::string, std::string>& found,
                 const std::optional<ImageLock>& lock) {
  Check check{
      .name = "lock",
      .area = CheckArea::kNetwork,
      .why =
          "a node with other versions than the image was locked with may take another network than the rest"};
  if (!lock) {
    check.saw = "no lock file was given (--lock FILE)";
    return check;
  }
  std::string differs;
  for (const auto& [name, locked] : lock->libraries) {
    const auto version = found.find(name);
    if (version != found.end() && version_matches(locked, version->second)) continue;
    differs += fmt::format("{}{} is {}, locked is {}", differs.empty() ? "" : "; ", name,
                           version == found.end() ? "not found" : version->second, locked);
  }
  // The image that a container was made from is not seen from inside: who starts it tells.
  const auto image = node.env("LOCKSTEP_IMAGE");
  if (!lock->image.empty() && image && *image != lock->image)
    differs +=
        fmt::format("{}the image is {}, locked is {}", differs.empty() ? "" : "; ", *image, lock->image);
  const std::string unknown_image =
      !lock->image.empty() && !image ? "; the image is not known, since LOCKSTEP_IMAGE is not set" : "";
  if (differs.empty()) {
    check.saw = fmt::format(
        "{} librar{} as locked{}", lock->libraries.size(), lock->libraries.size() == 1 ? "y" : "ies",
        unknown_image.empty() && !lock->image.empty() ? ", and the image" : unknown_image);
    return check;
  }
  check.state = CheckState::kFault;
  check.saw = differs + unknown_image;
  check.fix =
      "start the node from the locked image, and take its folders alone into LD_LIBRARY_PATH; or make a new "
      "lock";
  return check;
}

}  // namespace lockstep::cluster
