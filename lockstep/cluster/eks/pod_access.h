// Logs of a cluster's parts, and commands in its pods: what `lockstep cluster logs` and `exec` ask kubectl
// for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::eks {

// "head", "worker-0" (workers are counted by their names' order, from 0), or a pod's name, of the
// deployment's RayCluster.
struct RayPodName {
  std::string pod, container;
};
// Throws ConfigError with the pods that there are, where there is none of that name.
RayPodName find_ray_pod(Kubernetes& kubernetes, const Deployment& deployment, const std::string& who);

struct LogRequest {
  std::string who = "head";     // as of find_ray_pod, or "operator"
  std::optional<int64_t> rank;  // of the run in `run_folder`: its newest log, as the pod sees it
  std::string run_folder;
  std::string since;  // "10m", as kubectl takes it; empty: from the beginning
  bool follow = false;
};

struct ExecRequest {
  std::string who = "head";
  std::vector<std::string> command;
  bool takes_input = false, has_terminal = false;
};

// kubectl's arguments. Throw as find_ray_pod does.
std::vector<std::string> logs_command(Kubernetes& kubernetes, const Deployment& deployment,
                                      const LogRequest& request);
std::vector<std::string> exec_command(Kubernetes& kubernetes, const Deployment& deployment,
                                      const ExecRequest& request);

}  // namespace lockstep::cluster::eks
