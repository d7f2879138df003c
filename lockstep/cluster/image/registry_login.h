// Who we are to a registry: what `docker login` left on this machine.
#pragma once

#include <optional>
#include <string>

#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster {

struct RegistryLogin {
  std::string user, password;
  std::string source;  // for messages: a file, or the name of a helper
};

// From $DOCKER_CONFIG/config.json, or ~/.docker/config.json: of "credHelpers" the registry's, else its entry
// in "auths", else "credsStore". A helper is the program docker-credential-NAME, which gets the registry on
// standard input and answers {"Username", "Secret"} (github.com/docker/docker-credential-helpers). Nothing
// where the file says nothing; nothing as well where a helper says that it has no credentials. Throws
// ConfigError for a file that cannot be read as such, and CommandError for a helper that fails.
std::optional<RegistryLogin> registry_login(const std::string& registry, CommandRunner& runner);

}  // namespace lockstep::cluster
