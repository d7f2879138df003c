// The wait that follows a change.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "lockstep/cluster/eks/readiness.h"
#include "lockstep/cluster/eks/surroundings.h"

namespace lockstep::cluster::eks {

constexpr std::chrono::minutes kRayLimit{30};  // an image of 10 GB through one NAT gateway takes a while

// Looks every ten seconds until all is ready, and says what is missing whenever that is something else.
// Throws CommandError, which ends with `way_on`, as soon as something is broken, or after `limit`.
void wait_until_ready(const Surroundings& surroundings, const std::string& what, std::chrono::minutes limit,
                      const std::function<Readiness()>& look, const std::string& way_on);

}  // namespace lockstep::cluster::eks
