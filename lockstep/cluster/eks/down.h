// Takes a deployment away, whole or half made.
#pragma once

#include "lockstep/cluster/eks/leftovers.h"
#include "lockstep/cluster/eks/settings.h"
#include "lockstep/cluster/eks/surroundings.h"

namespace lockstep::cluster::eks {

// Ray's jobs and clusters, volumes and load balancers, then the nodes and the cluster (of existing: true only
// what `up` added), the reservations with our tag, and what is left behind. Then asks for every kind again
// and returns what it found: nothing, or what a person must decide about. A step that fails is said and does
// not keep the next from being tried; the first failure is thrown at the end, after all that could be done
// was. Throws CommandError, InterruptedError.
LeftoverSearch down(const ClusterSettings& settings, const Surroundings& surroundings);

}  // namespace lockstep::cluster::eks
