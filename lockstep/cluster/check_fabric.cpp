#include <fmt/format.h>

#include <set>
#include <sstream>

#include "lockstep/base/split.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
namespace {

// Where EFA's installer puts it, outside of most PATHs.
constexpr const char* kInstalledFiInfo = "/opt/amazon/efa/bin/fi_info";

std::optional<ProgramOutput> run_fi_info(const Node& node) {
  if (auto output = node.run({"fi_info", "-p", "efa"})) return output;
  return node.run({kInstalledFiInfo, "-p", "efa"});
}

// The values of lines "    domain: rdmap16s27-rdm", each once.
std::set<std::string> values_of(const std::string& text, const std::string& key) {
  std::set<std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, value;
    if (words >> name >> value && name == key + ":") values.insert(value);
  }
  return values;
}

}  // namespace

Check check_verbs(const NetworkDevices& devices) {
  Check check{.name = "/dev/infiniband",
              .area = CheckArea::kNetwork,
              .why = "a program reaches EFA and InfiniBand devices through its uverbs files"};
  if (devices.usable()) {
    check.saw = fmt::format("{}; {} uverbs file{}", devices.words(), devices.nodes.size(),
                            devices.nodes.size() == 1 ? "" : "s");
    return check;
  }
  if (!devices.any()) {
    check.state = CheckState::kNote;
    check.saw = "no EFA or InfiniBand device";
    check.why = "between hosts training uses TCP, which is right where there is nothing faster";
    return check;
  }
  check.state = CheckState::kFault;
  check.saw = fmt::format("/sys shows {}, but there is no /dev/infiniband/uverbs file", devices.words());
  check.why = "the devices are the host's; without the files NCCL falls back to TCP and says nothing";
  check.fix =
      "give the container the devices: in Kubernetes request vpc.amazonaws.com/efa (or the RDMA plugin's "
      "resource), with "
      "docker --device /dev/infiniband/uverbs0 and so on. Do not mount the folder from the host";
  return check;
}

Check check_efa_provider(const Node& node, const NetworkDevices& devices) {
  Check check{.name = "efa provider",
              .area = CheckArea::kNetwork,
              .why = "the plugin of NCCL reaches EFA through libfabric's provider efa"};
  const bool efa = devices.usable_efa();
  const auto output = run_fi_info(node);
  if (!output) {
    check.state = efa ? CheckState::kNote : CheckState::kGood;
    check.saw = fmt::format("fi_info is not installed{}", efa ? "" : "; no EFA device it could list");
    check.fix =
        efa ? "EFA's installer brings it (/opt/amazon/efa/bin); without it this cannot be checked" : "";
    return check;
  }
  const auto providers = values_of(output->text, "provider");
  if (output->exit_code == 0 && providers.contains("efa")) {
    const auto fabrics = values_of(output->text, "fabric");
    check.saw =
        fmt::format("fi_info lists provider efa, {} domains, {}", values_of(output->text, "domain").size(),
                    fabrics.contains("efa-direct") ? "fabric efa-direct too" : "fabric efa");
    return check;
  }
  const std::string said = last_line(output->text);
  check.saw = fmt::format("fi_info -p efa finds no provider (exit code {}: {})", output->exit_code,
                          said.empty() ? "it printed nothing" : said);
  if (!efa) {
    check.saw += "; there is no EFA device";
    return check;
  }
  check.state = CheckState::kFault;
  check.fix =
      "libfabric of EFA's installer must come before others on LD_LIBRARY_PATH (/opt/amazon/efa/lib); unset "
      "FI_PROVIDER "
      "where it names another; in Kubernetes request vpc.amazonaws.com/efa";
  return check;
}

}  // namespace lockstep::cluster
