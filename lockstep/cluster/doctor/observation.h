// Everything that the checks look at, asked for once.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/cluster/doctor/account_view.h"
#include "lockstep/cluster/doctor/cluster_view.h"
#include "lockstep/cluster/doctor/pod_view.h"
#include "lockstep/cluster/eks/surroundings.h"

namespace lockstep::cluster::doctor {

struct Observation {
  eks::Deployment deployment;
  std::chrono::system_clock::time_point now;
  AccountView account;
  Asked<ClusterView> cluster;  // asked for where the cluster is active
  std::vector<PodView> workers;

  bool has_cluster() const { return account.world.cluster_status == "ACTIVE"; }
  const eks::ClusterSettings& settings() const { return deployment.settings; }
  // A time as Kubernetes writes it ("2026-01-02T03:04:05Z") that lies at least `age` back. False for "".
  bool is_older(const std::string& time, std::chrono::seconds age) const;
};

// Asks, and changes nothing. `run_folder`: see pod_view.h. Throws CommandError where AWS does not even tell
// whether there is a cluster.
Observation observe(const eks::Surroundings& surroundings, const eks::ClusterSettings& settings,
                    const std::string& run_folder);

}  // namespace lockstep::cluster::doctor
