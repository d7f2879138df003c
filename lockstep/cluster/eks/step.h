// One thing that `cluster up` does, as the command that does it. A plan prints the very same ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/cluster/command_runner.h"
#include "lockstep/cluster/eks/deployment.h"
#include "lockstep/cluster/manifest/helm_values.h"

namespace lockstep::cluster::eks {

struct Step {
  enum class Makes { kReservation, kCluster, kGpuNodes, kOther };

  std::string what;  // "the GPU nodes"
  std::string why;
  Command command;                       // with the file below as its input
  std::string input_file;                // its name in `plan --out`; empty: no input
  std::optional<Command> input_command;  // whose output is the input instead
  Makes makes = Makes::kOther;           // what need not be made again; the others may be repeated

  // "eksctl create cluster -f - < eksctl-cluster.yaml"
  std::string to_text() const;
};

// A targeted reservation for all GPU nodes in `zone`, which ends at `end` ("2026-01-02T03:04:05Z") by itself.
// All or nothing: there is no surer sign of capacity, and it bills from then on.
Step reserve(const Deployment& deployment, const std::string& zone, const std::string& end);
Step create_cluster(const Deployment& deployment);
// So that kubectl and helm here reach the cluster; the user's own file stays as it is.
Step fetch_kubeconfig(const Deployment& deployment, const std::string& kubeconfig);
Step create_service_account(const Deployment& deployment);
Step create_gpu_nodes(const Deployment& deployment);
Step install_chart(const manifest::HelmRelease& release, const std::string& kubeconfig);
Step apply_ray_crds(const Deployment& deployment, const std::string& kubeconfig);
Step apply(const manifest::ManifestFile& file, const std::string& why, const std::string& kubeconfig);

// All of them in order for a world where nothing is there yet, but for `kubeconfig`'s path as `up` has it.
std::vector<Step> all_steps(const Deployment& deployment, const std::string& kubeconfig);
// Every file that the steps put in, and nothing secret.
std::vector<manifest::ManifestFile> all_files(const Deployment& deployment);

}  // namespace lockstep::cluster::eks
