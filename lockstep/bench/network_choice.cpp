#include "lockstep/bench/network_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/split.h"

namespace lockstep::bench {
namespace {

// NCCL_NET refuses to start over another network than the named one, instead of falling back.
const std::vector<NetworkChoice>& known() {
  static const std::vector<NetworkChoice> choices = {
      {"asis", {}},
      // aws-ofi-nccl goes by the name that NCCL_NET has, from its first release to its newest.
      {"efa", {{"NCCL_NET", "AWS Libfabric"}, {"FI_PROVIDER", "efa"}}},
      {"ib", {{"NCCL_NET", "IB"}, {"NCCL_NET_PLUGIN", "none"}}},
      {"tcp", {{"NCCL_NET", "Socket"}, {"NCCL_NET_PLUGIN", "none"}}},
  };
  return choices;
}

struct Setting {
  std::string network, variable, value;

  static Setting parse(const std::string& text) {
    const size_t colon = text.find(':');
    const size_t equals = colon == std::string::npos ? colon : text.find('=', colon);
    if (equals == std::string::npos || colon == 0 || equals == colon + 1)
      throw ConfigError(fmt::format(
          "bench: --set takes NAME:VARIABLE=VALUE, such as lo:GLOO_SOCKET_IFNAME=lo, not \"{}\"", text));
    return {text.substr(0, colon), text.substr(colon + 1, equals - colon - 1), text.substr(equals + 1)};
  }
};

NetworkChoice choice_of(const std::string& name, const std::vector<Setting>& settings) {
  const auto found = std::find_if(known().begin(), known().end(),
                                  [&](const NetworkChoice& choice) { return choice.name == name; });
  NetworkChoice choice = found == known().end() ? NetworkChoice{name, {}} : *found;
  bool has_setting = false;
  for (const Setting& setting : settings) {
    if (setting.network != name) continue;
    choice.environment[setting.variable] = setting.value;
    has_setting = true;
  }
  if (found == known().end() && !has_setting)
    throw ConfigError(
        fmt::format("bench: no network \"{}\" is known, but {}; --set {}:VARIABLE=VALUE makes one", name,
                    fmt::join(known_networks(), ", "), name.empty() ? "NAME" : name));
  return choice;
}

}  // namespace

std::string NetworkChoice::words() const {
  if (environment.empty()) return "the environment as it is";
  std::string text;
  for (const auto& [variable, value] : environment)
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", variable, value ? "=" + *value : " unset");
  return text;
}

std::vector<std::string> known_networks() {
  std::vector<std::string> names;
  for (const NetworkChoice& choice : known()) names.push_back(choice.name);
  return names;
}

std::vector<NetworkChoice> parse_networks(const std::string& names,
                                          const std::vector<std::string>& settings) {
  std::vector<Setting> parsed;
  for (const std::string& setting : settings) parsed.push_back(Setting::parse(setting));
  std::vector<NetworkChoice> choices;
  const std::vector<std::string> all = split(names, ',');
  for (const std::string& name : all) {
    if (std::count(all.begin(), all.end(), name) > 1)
      throw ConfigError(fmt::format("bench: --compare names \"{}\" twice", name));
    choices.push_back(choice_of(name, parsed));
  }
  if (choices.size() < 2)
    throw ConfigError(
        fmt::format("bench: --compare is \"{}\": it takes two networks or more, such as efa,tcp", names));
  for (const Setting& setting : parsed) {
    if (std::find(all.begin(), all.end(), setting.network) == all.end())
      throw ConfigError(fmt::format("bench: --set is for \"{}\", which --compare {} does not name",
                                    setting.network, names));
  }
  return choices;
}

}  // namespace lockstep::bench
