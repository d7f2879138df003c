// A pod of a Ray cluster on Kubernetes: what Kubernetes knows of the machine that is a node to Ray.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster {

struct RayPod {
  std::string name;     // "ray-gpu-worker-x7k2p"
  std::string node;     // the machine that it runs on: "gpu-b"
  std::string ip;       // by which Ray knows it
  std::string cluster;  // the RayCluster that it is of
  double gpus = 0;      // that Kubernetes gave it

  std::string label() const;  // "gpu-b (pod ray-gpu-worker-x7k2p)"
};

// From what `kubectl get pods -o json` prints (v1 List of Pod): those of Ray clusters that run. GPUs are the
// limits of all containers whose resource ends in "gpu" (nvidia.com/gpu), which is what KubeRay gives to `ray
// start` (ray-operator/controllers/ray/common/pod.go of ray-project/kuberay). Throws CommandError when it is
// of another shape.
std::vector<RayPod> ray_pods_from(const std::string& list);

// Asks kubectl for those of all Ray clusters in a namespace, which takes a second or two. Empty: as kubectl
// is set up. Throws CommandError with its words.
std::vector<RayPod> list_ray_pods(CommandRunner& runner, const std::string& context,
                                  const std::string& name_space);

}  // namespace lockstep::cluster
