// `lockstep cluster status`: what there is of a cluster, what it costs, and whether it is as asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/eks/price.h"
#include "lockstep/cluster/eks/surroundings.h"
#include "lockstep/cluster/eks/world.h"

namespace lockstep::cluster::status {

struct NodeRow {
  std::string name, type, zone;
  int64_t gpus = 0, efa = 0;  // that it gives to pods
  bool is_ready = false;
};

// A plugin's DaemonSet, or the operator's Deployment.
struct PartRow {
  std::string name, version;  // of its image
  int64_t ready = 0, wanted = 0;
};

struct RayRow {
  std::string name, state;  // KubeRay's: "ready"; empty: it has not said yet
  int64_t ready_workers = 0, wanted_workers = 0;
  std::string gpus;  // that it counts
};

struct PodRow {
  std::string name, role, node, phase;
  std::string why;  // it does not run
  int64_t restarts = 0;
};

struct JobRow {
  std::string id, status, what;  // "RUNNING"; its entry point, or that it is a RayJob
};

struct ClusterStatus {
  std::string name, region, name_space;
  eks::World world;
  eks::Price price;  // of what is there now
  std::vector<NodeRow> nodes;
  std::vector<PartRow> parts;
  std::vector<RayRow> ray_clusters;
  std::vector<PodRow> pods;  // Ray's
  std::vector<JobRow> jobs;
  std::vector<std::string> not_told;  // what could not be asked for, and why
  std::vector<std::string> troubles;  // why it is not healthy

  bool is_healthy() const { return troubles.empty() && not_told.empty(); }
  std::string to_text() const;
  // Fields: docs/commands/cluster.md.
  Json to_json() const;
};

// Asks, and changes nothing. Throws CommandError where AWS does not even tell whether there is a cluster.
ClusterStatus look(const eks::Surroundings& surroundings, const eks::ClusterSettings& settings);

// Throws CommandError with the first trouble.
void require_healthy(const ClusterStatus& status);

}  // namespace lockstep::cluster::status
