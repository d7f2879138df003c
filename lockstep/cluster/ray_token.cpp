#include "lockstep/cluster/ray_token.h"

#include <fmt/format.h>

#include <fstream>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/split.h"

namespace lockstep::cluster {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return trimmed(line);
}

}  // namespace

std::optional<RayToken> ray_token() {
  if (env_var("RAY_AUTH_MODE").value_or("") != "token") return std::nullopt;
  const std::string given = trimmed(env_var("RAY_AUTH_TOKEN").value_or(""));
  if (!given.empty()) return RayToken{given, "RAY_AUTH_TOKEN"};
  const std::string path = env_var("RAY_AUTH_TOKEN_PATH").value_or("");
  if (!path.empty()) {
    const std::string read = first_line(path);
    if (read.empty()) {
      throw ConfigError(
          fmt::format("ray: RAY_AUTH_TOKEN_PATH is {}, which cannot be read or holds no token", path));
    }
    return RayToken{read, path};
  }
  const std::string usual = env_var("HOME").value_or(".") + "/.ray/auth_token";
  const std::string read = first_line(usual);
  if (read.empty()) {
    throw ConfigError(fmt::format(
        "ray: RAY_AUTH_MODE is token, but there is no token in RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH or {}",
        usual));
  }
  return RayToken{read, usual};
}

}  // namespace lockstep::cluster
