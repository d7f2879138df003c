// What can be known to stand in the way before anything is made: identity, quotas, zones, versions,
// reservations, tools. Asks, and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/check.h"
#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::eks {

struct Preflight {
  std::vector<Check> checks;
  Deployment deployment;                // with zones as AWS has them
  std::vector<std::string> candidates;  // zones in which to look for capacity, in order
  World world;
  bool extended_support = false;
};

// Everything that is wrong is a check at fault, so that one run tells it all; what AWS does not let be asked
// (no right to see quotas) is a note. Throws only where nothing can be asked at all: no tools, no
// credentials. `today`: "2026-01-02", against which ends of support are held.
Preflight look_before(Aws& aws, const ClusterSettings& settings, const std::string& today);

}  // namespace lockstep::cluster::eks
