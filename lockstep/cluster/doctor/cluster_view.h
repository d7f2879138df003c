// What Kubernetes tells of a cluster: its lists, as kubectl prints them.
#pragma once

#include <string>

#include "lockstep/base/json.h"
#include "lockstep/cluster/doctor/asked.h"
#include "lockstep/cluster/eks/kubernetes.h"

namespace lockstep::cluster::doctor {

struct ClusterView {
  Asked<Json> nodes, daemonsets;
  Asked<Json> system_pods;   // of the namespace of the plugins
  Asked<Json> pods, events;  // of Ray's namespace, as all that follows
  Asked<Json> ray_clusters, ray_jobs, jobs, volume_claims;
  Asked<Json> ray_definition;                       // the CustomResourceDefinition of RayClusters
  Asked<Json> operators;                            // deployments in the operator's namespace
  Asked<std::string> gpu_plugin_log, operator_log;  // their last lines
};

// A dozen calls of kubectl.
ClusterView look_at_cluster(eks::Kubernetes& kubernetes, const eks::Deployment& deployment);

}  // namespace lockstep::cluster::doctor
