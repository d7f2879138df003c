// Whether a cluster is as training needs it, before a job is sent there.
#pragma once

#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::pod {

// Where EFA is asked for: the GPU nodes are in one availability zone and one VPC, since EFA crosses neither.
// Always: head and workers run, are Guaranteed, and Ray counts as many GPUs as Kubernetes gave. Throws
// ConfigError with the nodes at fault, and CommandError where Kubernetes or AWS cannot be asked.
void require_placement(eks::Kubernetes& kubernetes, eks::Aws& aws, const eks::Deployment& deployment);

}  // namespace lockstep::cluster::pod
