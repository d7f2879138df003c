// Makes a deployment, or what is missing of it.
#pragma once

#include "lockstep/cluster/eks/preflight.h"
#include "lockstep/cluster/eks/surroundings.h"

namespace lockstep::cluster::eks {

// Brings the world to what the preflight's deployment says: looks at what is there, and makes the rest. Ends
// once the GPU nodes, both device plugins and Ray are seen to be as asked for. Any failure or Ctrl-C leaves a
// state from which the same call goes on; a reservation that no node took is cancelled on the way out. Throws
// CommandError with the diagnosis, NoCapacityError, ConfigError for an image that is not pinned.
void up(const Preflight& preflight, const Surroundings& surroundings);

}  // namespace lockstep::cluster::eks
