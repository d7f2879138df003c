// Which releases of Ray the adapter runs on.
#pragma once

#include <optional>
#include <string>

namespace lockstep::cluster {

inline constexpr const char* kTestedRay = "2.58";

// Nothing for a release 2.58.x; a warning for another one from 2.51 on, the first whose Ray Train is the one
// that the adapter uses. Throws ConfigError for anything older, or of another major release.
std::optional<std::string> ray_version_warning(const std::string& version);

}  // namespace lockstep::cluster
