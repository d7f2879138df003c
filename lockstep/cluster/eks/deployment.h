// Settings together with what only the world can tell: where the nodes go.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cluster/eks/catalogue.h"
#include "lockstep/cluster/eks/settings.h"

namespace lockstep::cluster::eks {

// On everything that is made in AWS, with the cluster's name as value: by it `down` finds what is ours.
constexpr const char* kClusterTag = "lockstep/cluster";
constexpr const char* kServiceAccount = "lockstep";
constexpr const char* kOperatorNamespace = "kuberay-operator";

struct Deployment {
  ClusterSettings settings;
  std::vector<std::string>
      cluster_zones;                   // two at least; empty where the VPC or the cluster is there already
  std::vector<std::string> gpu_zones;  // one, unless nothing but TCP is asked for
  std::string reservation;             // that the GPU nodes go into; empty: none
  bool zones_are_assumed = false;      // nobody was asked: the first two of the region

  const InstanceType& gpu_type() const { return *find_instance_type(settings.gpu_nodes.type); }
  const InstanceType& system_type() const { return *find_instance_type(settings.system_nodes.type); }
  // What one worker pod asks for; 0 where only TCP is asked for.
  int64_t efa_per_pod() const {
    return settings.uses_efa() ? settings.gpu_nodes.efa.value_or(gpu_type().efa_interfaces) : 0;
  }
  // KubeRay makes the token itself from 1.5.1 on (authOptions).
  bool operator_makes_token() const;
  // The secret with the key auth_token that holds Ray's token, in the settings' namespace.
  std::string token_secret() const;
};

// With the zones that the settings name, and the region's first two where they name none.
Deployment assumed_deployment(const ClusterSettings& settings);

// "1.5.1" is not before "1.5.1", and before "1.10": numbers between dots; a leading "v" is ignored.
bool is_version_before(const std::string& version, const std::string& other);

}  // namespace lockstep::cluster::eks
