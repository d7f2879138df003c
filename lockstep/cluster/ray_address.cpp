#include "lockstep/cluster/ray_address.h"

#include <fmt/format.h>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

bool is_http(const std::string& address) {
  return address.starts_with("http://") || address.starts_with("https://");
}

}  // namespace

std::string ray_address(const std::string& asked) {
  std::string address = asked;
  if (address.empty()) {
    const std::string set = env_var("RAY_ADDRESS").value_or("");
    address = is_http(set) ? set : "http://127.0.0.1:8265";
  }
  if (address.find("://") == address.npos) address = "http://" + address;
  while (address.ends_with('/')) address.pop_back();
  const size_t host = address.find("://") + 3;
  if (!is_http(address) || host == address.size() || address.find('/', host) != address.npos) {
    throw ConfigError(fmt::format(
        "ray: \"{}\" is no address of a Ray dashboard: give --ray-address http://HOST:8265, the head's",
        asked));
  }
  return address;
}

}  // namespace lockstep::cluster
