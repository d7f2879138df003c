// A network to measure over, as the environment that makes workers take it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::bench {

struct NetworkChoice {
  std::string name;
  std::map<std::string, std::optional<std::string>> environment;  // nothing: the variable is removed

  // "NCCL_NET=Socket NCCL_NET_PLUGIN=none"; "the environment as it is" for none.
  std::string words() const;
};

// Those with a name of their own: efa, ib, tcp (for NCCL) and asis, which changes nothing.
std::vector<std::string> known_networks();

// `names`: "efa,tcp". `settings`: "NAME:VARIABLE=VALUE", which add to a known network or make another one,
// such as "lo:GLOO_SOCKET_IFNAME=lo". Throws ConfigError for fewer than two names, one given twice, one that
// is neither known nor has a setting, and a setting of another form or for a name that is not compared.
std::vector<NetworkChoice> parse_networks(const std::string& names, const std::vector<std::string>& settings);

}  // namespace lockstep::bench
