// What of a deployment is there already, as AWS tells it. Nothing is remembered between two runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/settings.h"

namespace lockstep::cluster::eks {

struct Reservation {
  std::string id, state, zone, zone_id, type, platform, match, end;
  std::string placement_group;  // the ARN of the one it was made in; empty: of none
  int64_t total = 0, available = 0;

  bool bills() const { return state == "active" || state == "pending"; }
  static Reservation from(const Json& json);
};

struct NodeGroup {
  std::string status;  // "ACTIVE", "CREATING", "CREATE_FAILED"…
  int64_t desired = 0;
  std::string scaling_group;        // the Auto Scaling group under it
  std::vector<std::string> issues;  // "AsgInstanceLaunchFailures: …"
  std::string image_type;           // "AL2023_x86_64_NVIDIA"
  std::string launch_template, launch_template_version;
  std::vector<std::string> subnets;
};

struct World {
  std::string cluster_status;                     // "ACTIVE", "CREATING"…; empty: there is none
  std::string cluster_version;                    // "1.36"
  std::map<std::string, NodeGroup> node_groups;   // by name
  std::map<std::string, std::string> stacks;      // CloudFormation's of the cluster: name -> status
  std::vector<std::string> cluster_subnet_zones;  // where the cluster's subnets are
  std::vector<Reservation> reservations;          // tagged as ours that bill
};

// Costs four to eight calls. Throws as Aws::call does.
World look_at_world(Aws& aws, const ClusterSettings& settings);

std::vector<Reservation> our_reservations(Aws& aws, const std::string& cluster);
// Throws ConfigError for an id that there is not.
Reservation find_reservation(Aws& aws, const std::string& id);

// "eksctl-<cluster>-nodegroup-<group>"
std::string node_group_stack(const std::string& cluster, const std::string& group);

}  // namespace lockstep::cluster::eks
