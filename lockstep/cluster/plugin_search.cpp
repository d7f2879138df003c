#include "lockstep/cluster/plugin_search.h"

#include <fmt/format.h>

#include "lockstep/base/split.h"

namespace lockstep::cluster {
namespace {

// Where AWS's installer has put the plugin, newest first.
constexpr const char* kUsualFolders[] = {
    "/opt/amazon/ofi-nccl/lib", "/opt/amazon/ofi-nccl/lib64", "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
    "/opt/amazon/ofi-nccl/lib/aarch64-linux-gnu", "/opt/aws-ofi-nccl/lib"};

std::vector<std::string> names_of(const std::string& setting) {
  if (setting.empty()) return {"libnccl-net.so"};
  std::vector<std::string> names;
  for (const std::string& part : split(setting, ',')) {
    if (part.empty()) continue;
    names.push_back(part);
    if (part.find('/') == std::string::npos && !part.ends_with(".so"))
      names.push_back(fmt::format("libnccl-net-{}.so", part));
  }
  return names;
}

std::string installed_plugin(const Node& node) {
  for (const std::string folder : kUsualFolders) {
    for (const std::string& name : node.list(folder)) {
      if (name.starts_with("libnccl-net") && name.ends_with(".so")) return folder + "/" + name;
    }
  }
  return "";
}

}  // namespace

PluginSearch PluginSearch::of(const Node& node) {
  PluginSearch search;
  search.setting = node.nccl_setting("NCCL_NET_PLUGIN").value_or("");
  search.off = search.setting == "none";
  if (search.off) return search;
  search.tried = names_of(search.setting);
  for (const std::string& name : search.tried) {
    search.probe = node.probe(name);
    if (!is_not_found(name, search.probe.error)) {
      search.name = name;
      return search;
    }
  }
  search.installed = installed_plugin(node);
  return search;
}

std::string nccl_version_text(int nccl_version) {
  return fmt::format("{}.{}.{}", nccl_version / 10000, nccl_version / 100 % 100, nccl_version % 100);
}

// As NCCL's releases load them (src/plugin/net).
NetApiRange net_apis_of_nccl(int nccl_version) {
  const int minor = nccl_version / 100 % 100;
  if (minor <= 18) return {4, 6};
  if (minor == 19) return {5, 7};
  if (minor <= 23) return {5, 8};
  if (minor <= 25) return {5, 9};
  if (minor <= 27) return {6, 10};
  if (minor <= 29) return {6, 11};
  return {6, 12};
}

}  // namespace lockstep::cluster
