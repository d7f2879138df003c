// What every command that talks to a Ray cluster takes: --ray-address.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "lockstep/cluster/ray_client.h"

namespace lockstep::cli {

// `address` must live until the command line has been parsed.
void add_ray_address(CLI::App& command, std::string& address);

// Asks nothing yet. Throws ConfigError for an address that is none, or a token that cannot be found.
cluster::RayClient ray_client(const std::string& address);

}  // namespace lockstep::cli
