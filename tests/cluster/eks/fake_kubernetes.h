// A Kubernetes cluster with KubeRay in memory, as far as `lockstep cluster` asks kubectl and helm: charts and
// objects that are installed, and the pods that a RayCluster has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster::eks {

class FakeKubernetes {
 public:
  // Settings.
  std::string qos = "Guaranteed";
  int ray_gpus = 8;
  int64_t efa_per_node = 1;

  // Answers `kubectl exec` instead of us; nothing: as without it.
  std::function<std::optional<CommandResult>(const Command& command, const std::string& pod)> in_pod;

  // What is there.
  std::set<std::string> charts, objects;  // "RayCluster", "Secret" …
  std::string image;                      // that the RayCluster names
  struct RayPod {
    std::string name, image;
    bool is_leaving = false;
    bool is_head() const { return name.starts_with("head"); }
  };
  std::vector<RayPod> ray_pods;
  Json ray_jobs = Json::array();

  CommandResult helm(const Command& command);
  // In a cluster with so many GPU nodes.
  CommandResult kubectl(const Command& command, int64_t num_gpu_nodes);

 private:
  CommandResult apply(const std::string& manifest);
  Json nodes(int64_t count) const;
  Json daemonsets(int64_t num_nodes) const;
  Json pods(const std::string& selector, int64_t num_workers);
  // As the operator does: makes the pods that are missing, of the image that is wanted by then.
  void reconcile(int64_t num_workers);

  int num_replaced_ = 0;
};

}  // namespace lockstep::cluster::eks
