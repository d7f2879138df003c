#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/split.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
namespace {

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names = split(list, ',');
  std::erase(names, "");
  for (std::string& name : names) name = name.substr(0, name.find(':'));  // "eth0:5000": a port may follow
  return names;
}

// NCCL's rule: "^" before the list excludes, "=" takes names whole; otherwise each is the begin of a name.
struct InterfaceRule {
  bool excludes = false, exact = false;
  std::vector<std::string> names;

  static InterfaceRule parse(std::string text) {
    InterfaceRule rule;
    if ((rule.excludes = text.starts_with('^'))) text.erase(0, 1);
    if ((rule.exact = text.starts_with('='))) text.erase(0, 1);
    rule.names = names_in(text);
    return rule;
  }
  bool allows(const std::string& interface) const {
    const bool listed = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return exact ? interface == name : interface.starts_with(name);
    });
    return listed != excludes;
  }
};

Check named_interface_is_missing(Check check, const std::string& variable, const std::string& value,
                                 const std::vector<std::string>& interfaces) {
  check.state = CheckState::kFault;
  check.saw = fmt::format("{} is \"{}\", which no interface has: there is {}", variable, value,
                          fmt::join(interfaces, ", "));
  check.fix = fmt::format(
      "set {} to one of them, or unset it (names differ between machine types: eth0, ens5, enp71s0)",
      variable);
  return check;
}

}  // namespace

Check check_nccl_interface(const Node& node) {
  Check check{
      .name = "nccl interface",
      .area = CheckArea::kNetwork,
      .why =
          "ranks meet over it even where data goes over EFA; a wrong one ends the start with \"no socket "
          "interface found\", or hangs it"};
  const auto value = node.nccl_setting("NCCL_SOCKET_IFNAME");
  const auto interfaces = node.list("/sys/class/net");
  if (!value || value->empty()) {
    check.saw =
        fmt::format("NCCL_SOCKET_IFNAME is not set: NCCL takes ib*, then any but docker* and lo, of {}",
                    fmt::join(interfaces, ", "));
    return check;
  }
  const InterfaceRule rule = InterfaceRule::parse(*value);
  std::vector<std::string> allowed;
  std::copy_if(interfaces.begin(), interfaces.end(), std::back_inserter(allowed),
               [&](const std::string& name) { return rule.allows(name); });
  if (allowed.empty()) return named_interface_is_missing(check, "NCCL_SOCKET_IFNAME", *value, interfaces);
  check.saw = fmt::format("NCCL_SOCKET_IFNAME is \"{}\": {}", *value, fmt::join(allowed, ", "));
  if (rule.excludes && rule.allows("lo")) {
    check.state = CheckState::kNote;
    check.why =
        "an excluding list that leaves lo in may pick it, and the other hosts would be told 127.0.0.1";
    check.fix = fmt::format("NCCL_SOCKET_IFNAME=^lo,{}", fmt::join(rule.names, ","));
  }
  return check;
}

Check check_gloo_interface(const Node& node) {
  Check check{.name = "gloo interface",
              .area = CheckArea::kNetwork,
              .why = "CPU workers send over it; a name that is not there ends the start"};
  const auto value = node.env("GLOO_SOCKET_IFNAME");
  if (!value) {
    check.saw = "GLOO_SOCKET_IFNAME is not set: Lockstep takes the way to rank 0's host";
    return check;
  }
  const auto interfaces = node.list("/sys/class/net");
  if (std::find(interfaces.begin(), interfaces.end(), *value) == interfaces.end())
    return named_interface_is_missing(check, "GLOO_SOCKET_IFNAME", *value, interfaces);
  check.saw = fmt::format("GLOO_SOCKET_IFNAME is \"{}\"", *value);
  return check;
}

}  // namespace lockstep::cluster
