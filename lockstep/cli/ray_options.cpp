#include "lockstep/cli/ray_options.h"

#include "lockstep/cluster/ray_address.h"
#include "lockstep/cluster/ray_token.h"

namespace lockstep::cli {

void add_ray_address(CLI::App& command, std::string& address) {
  command
      .add_option("--ray-address", address,
                  "The cluster's dashboard (default: RAY_ADDRESS if it begins with http, else "
                  "http://127.0.0.1:8265)")
      ->type_name("URL");
}

cluster::RayClient ray_client(const std::string& address) {
  return {cluster::ray_address(address), cluster::ray_token()};
}

}  // namespace lockstep::cli
