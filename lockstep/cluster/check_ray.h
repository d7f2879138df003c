// `lockstep doctor ray`: is what Ray counts on a cluster what there is?
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/check.h"
#include "lockstep/cluster/ray_node.h"
#include "lockstep/cluster/ray_pod.h"

namespace lockstep::cluster {

// Ray's release against the tested one, and the nodes that it has lost.
Check check_ray_version(const std::string& version);
Check check_ray_nodes(const std::vector<RayNode>& nodes);

// Ray's GPUs against those that Kubernetes gave to the pods: Ray places workers by its own count alone, and
// waits without end for one that it does not count. A fault names the machine and what Ray found there. Pods
// and nodes are matched by address; pods of other Ray clusters do not count.
Check check_gpu_counts(const std::vector<RayNode>& nodes, const std::vector<RayPod>& pods);

}  // namespace lockstep::cluster
