#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
namespace {

Check not_found(Check check, const PluginSearch& plugin, bool efa) {
  const std::string tried = fmt::format("{}", fmt::join(plugin.tried, ", "));
  check.state = efa || !plugin.setting.empty() ? CheckState::kFault : CheckState::kNote;
  check.saw = plugin.setting.empty()
                  ? fmt::format("no {}", tried)
                  : fmt::format("NCCL_NET_PLUGIN is {}, but there is no {}", plugin.setting, tried);
  if (!plugin.installed.empty()) {
    check.saw += fmt::format(" where the loader looks; {} is there", plugin.installed);
    check.fix =
        fmt::format("put {} on LD_LIBRARY_PATH", plugin.installed.substr(0, plugin.installed.rfind('/')));
  } else if (check.state == CheckState::kFault) {
    check.fix = "install aws-ofi-nccl (EFA's installer brings it since 1.38), or unset NCCL_NET_PLUGIN";
  } else {
    check.why = "NCCL's own InfiniBand or TCP is used, which is right without EFA";
  }
  return check;
}

Check does_not_load(Check check, const PluginSearch& plugin) {
  check.state = CheckState::kFault;
  const auto missing = missing_dependency(plugin.name, plugin.probe.error);
  check.saw = missing ? fmt::format("{} does not load: {} is missing", plugin.name, *missing)
                      : fmt::format("{} does not load: {}", plugin.name, plugin.probe.error);
  check.fix = missing
                  ? fmt::format(
                        "put the folder that holds {} on LD_LIBRARY_PATH before others (libfabric: "
                        "/opt/amazon/efa/lib), or take plugin and libfabric from one installer",
                        *missing)
                  : "take plugin, libfabric and NCCL from one image; `ldd` on the file lists what it needs";
  return check;
}

}  // namespace

Check check_plugin(const PluginSearch& plugin, const LibraryProbe& nccl, const NetworkDevices& devices) {
  Check check{
      .name = "plugin",
      .area = CheckArea::kNetwork,
      .why = "NCCL reaches EFA through it, and falls back to TCP without an error when it does not load"};
  const bool efa = devices.usable_efa();
  if (plugin.off) {
    check.saw = "NCCL_NET_PLUGIN is none";
    check.state = efa ? CheckState::kFault : CheckState::kNote;
    check.why = efa ? "the EFA devices here stay unused" : "NCCL's own InfiniBand or TCP is used";
    check.fix = efa ? "unset NCCL_NET_PLUGIN" : "";
    return check;
  }
  if (plugin.name.empty()) return not_found(check, plugin, efa);
  if (!plugin.probe.loaded()) return does_not_load(check, plugin);
  const auto& apis = plugin.probe.net_apis;
  if (apis.empty()) {
    check.state = CheckState::kFault;
    check.saw = fmt::format("{} ({}) exports no ncclNetPlugin", plugin.name, plugin.probe.path);
    check.fix = "it is no network plugin: let NCCL_NET_PLUGIN and LD_LIBRARY_PATH lead to another";
    return check;
  }
  check.saw =
      fmt::format("{} ({}) loads{}, exports ncclNetPlugin v{} to v{}", plugin.name, plugin.probe.path,
                  plugin.probe.ofi_version.empty() ? "" : ", aws-ofi-nccl " + plugin.probe.ofi_version,
                  apis.front(), apis.back());
  if (!nccl.nccl_version) return check;
  const NetApiRange takes = net_apis_of_nccl(*nccl.nccl_version);
  if (std::none_of(apis.begin(), apis.end(),
                   [&](int api) { return api >= takes.oldest && api <= takes.newest; })) {
    check.state = CheckState::kFault;
    check.saw += fmt::format("; NCCL {} takes v{} to v{}", nccl_version_text(*nccl.nccl_version),
                             takes.oldest, takes.newest);
    check.fix = "a plugin and a NCCL of about the same year, best of one image";
  }
  return check;
}

}  // namespace lockstep::cluster
