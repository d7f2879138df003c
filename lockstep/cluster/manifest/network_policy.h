// Who may reach Ray: its own pods, and the operator. Ray's dashboard and job server (8265), its control store
// (6379) and client (10001) run what they are sent.
//
// The policy binds what goes through the pods' own interface; EFA does not, and is bound by the security
// group. `kubectl port-forward` comes from the pod's own host and still works.
#pragma once

#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/manifest/manifest_file.h"

namespace lockstep::cluster::manifest {

// The namespace, and the policy in it: before any pod of Ray's.
ManifestFile network_policy(const eks::Deployment& deployment);

}  // namespace lockstep::cluster::manifest
