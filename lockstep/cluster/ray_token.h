// The token that a Ray cluster may ask for, found where Ray's own clients find it
// (src/ray/rpc/authentication/authentication_token_loader.cc of ray-project/ray).
#pragma once

#include <optional>
#include <string>

namespace lockstep::cluster {

struct RayToken {
  std::string value;
  std::string source;  // where it was found, for messages: "RAY_AUTH_TOKEN"
};

// Nothing unless RAY_AUTH_MODE is "token": one cluster's token must not be shown to another by accident.
// Then, in this order, RAY_AUTH_TOKEN, the first line of the file that RAY_AUTH_TOKEN_PATH names, and of
// ~/.ray/auth_token. Throws ConfigError when none of them has one, or RAY_AUTH_TOKEN_PATH cannot be read.
std::optional<RayToken> ray_token();

}  // namespace lockstep::cluster
