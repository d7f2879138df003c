// A Kubernetes cluster with KubeRay in memory, as far as `lockstep cluster` asks kubectl and helm: charts and
// objects that are installed, and the pods that a RayCluster has.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "lockstep/base/json.h"
#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster::eks {

class FakeKubernetes {
 public:
  // Settings.
  std::string qos = "Guaranteed";
  int ray_gpus = 8;
  int64_t efa_per_node = 1;

  // What is there.
  std::set<std::string> charts, objects;  // "RayCluster", "Secret" …

  CommandResult helm(const Command& command);
  // In a cluster with so many GPU nodes.
  CommandResult kubectl(const Command& command, int64_t num_gpu_nodes);

 private:
  CommandResult apply(const std::string& manifest);
  Json nodes(int64_t count) const;
  Json daemonsets(int64_t num_nodes) const;
  Json pods(const std::string& selector, int64_t num_workers) const;
};

}  // namespace lockstep::cluster::eks
