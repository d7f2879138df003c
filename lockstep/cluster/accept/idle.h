// Whether anybody works on a cluster.
#pragma once

#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::accept {

// Throws ConfigError with the first job that runs, or waits, in the deployment's Ray: of those that Ray's
// head lists (none while it is not there), and RayJobs. CommandError where it cannot be asked.
void require_idle(eks::Kubernetes& kubernetes, const eks::Deployment& deployment);

}  // namespace lockstep::cluster::accept
