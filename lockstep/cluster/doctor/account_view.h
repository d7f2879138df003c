// What AWS tells of a cluster, beyond eks/world.h: what stood in the way of its nodes, and how they are made.
// Shapes: API references of EC2, EKS and CloudFormation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/cluster/doctor/asked.h"
#include "lockstep/cluster/eks/aws.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/eks/leftovers.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::doctor {

// What the GPU nodes are launched from.
struct LaunchTemplate {
  std::string placement_group;  // its name; empty: none
  std::string reservation;      // that it targets; empty: none
};

struct Instance {
  std::string id;
  int64_t efa_interfaces = 0;
  std::vector<std::string> security_groups;  // of its EFA interfaces; of all where it has none
};

struct SecurityGroup {
  std::string id;
  bool all_from_itself = false, all_to_itself = false;  // all protocols and ports
};

struct DefaultRoute {
  std::string subnet;
  std::string target;  // "nat-…", "igw-…"; empty: there is none
  bool is_blackhole = false;
};

struct AccountView {
  eks::World world;
  Asked<int64_t> gpu_quota;                   // vCPUs
  Asked<std::vector<std::string>> failures;   // why nodes were not launched, in AWS' words
  Asked<eks::Reservation> given_reservation;  // asked for where the settings name one
  Asked<LaunchTemplate> launch_template;      // the following only where there are GPU nodes
  Asked<std::vector<Instance>> instances;
  Asked<std::vector<SecurityGroup>> security_groups;
  Asked<std::vector<DefaultRoute>> default_routes;
  Asked<eks::LeftoverSearch> leftovers;  // only where the cluster is gone

  // Null where there is none.
  const eks::NodeGroup* gpu_nodes(const eks::Deployment& deployment) const;
};

// Some 10 to 20 calls. Throws as Aws::call does where not even the cluster can be asked for.
AccountView look_at_account(eks::Aws& aws, const eks::Deployment& deployment);

}  // namespace lockstep::cluster::doctor
