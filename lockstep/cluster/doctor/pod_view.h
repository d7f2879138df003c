// What is seen inside the worker pods.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/doctor/asked.h"
#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::doctor {

struct PodView {
  std::string pod;
  Asked<Json> report;                           // what `lockstep doctor node --json` prints there
  Asked<std::vector<std::string>> network_log;  // lines of NCCL, its plugin and libfabric, in order
};

// Of every worker among `pods` whose Ray container runs. The network's lines come from the logs of Ray's own
// workers there, and from `run_folder`'s logs when it is given: a run's folder as the pods see it. A second
// or a few for each pod.
std::vector<PodView> look_inside_pods(eks::Kubernetes& kubernetes, const Json& pods,
                                      const eks::Deployment& deployment, const std::string& run_folder);

}  // namespace lockstep::cluster::doctor
