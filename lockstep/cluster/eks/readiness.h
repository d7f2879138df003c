// Whether what was made works: the GPUs and EFA that Kubernetes gives, the plugins, the pods, and what Ray
// sees.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::eks {

struct Readiness {
  // What is not yet as asked for, with the likely cause where there is one. Empty: ready.
  std::vector<std::string> missing;
  // What will not come by waiting.
  std::vector<std::string> broken;

  bool ready() const { return missing.empty() && broken.empty(); }
  std::string to_text() const;
};

// GPU nodes (label nvidia.com/gpu.present=true) with their GPUs and EFA, and the plugins' DaemonSets: of the
// lists that kubectl printed, or asked for.
Readiness readiness_of_nodes(const Json& nodes, const Json& daemonsets, const Deployment& deployment);
Readiness look_at_nodes(Kubernetes& kubernetes, const Deployment& deployment);
// Head and worker pods: there, running, Guaranteed.
Readiness readiness_of_pods(const Json& pods, const Deployment& deployment);
// The same, asked for, and Ray's count of GPUs against Kubernetes'.
Readiness look_at_ray(Kubernetes& kubernetes, const Deployment& deployment);
// Runs CUDA in a worker pod: the image's against the node's driver. Throws CommandError.
void check_cuda(Kubernetes& kubernetes, const Deployment& deployment);

// Ray's count of GPUs in what `ray status` prints: 8 of "0.0/8.0 GPU". 0 where it names none.
double gpus_in_ray_status(const std::string& text);

}  // namespace lockstep::cluster::eks
