#include "lockstep/cluster/ray_version.h"

#include <fmt/format.h>

#include <cstdio>

#include "lockstep/base/error.h"

namespace lockstep::cluster {

std::optional<std::string> ray_version_warning(const std::string& version) {
  int major = 0, minor = 0;
  const bool is_version = std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2;
  if (!is_version || major != 2 || minor < 51) {
    throw ConfigError(
        fmt::format("ray: the cluster runs Ray {}, which has not the Ray Train that Lockstep uses (2.51 and "
                    "later 2.x; tested "
                    "with {}.x): use an image with Ray {}",
                    version, kTestedRay, kTestedRay));
  }
  if (fmt::format("{}.{}", major, minor) == kTestedRay) return std::nullopt;
  return fmt::format("the cluster runs Ray {}; Lockstep is tested with Ray {}.x", version, kTestedRay);
}

}  // namespace lockstep::cluster
