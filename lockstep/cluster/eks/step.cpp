#include "lockstep/cluster/eks/step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/json.h"
#include "lockstep/cluster/manifest/cluster_config.h"
#include "lockstep/cluster/manifest/network_policy.h"
#include "lockstep/cluster/manifest/ray_cluster.h"
#include "lockstep/cluster/manifest/storage.h"

namespace lockstep::cluster::eks {
namespace {

using std::chrono::minutes;

Command with_kubeconfig(std::vector<std::string> argv, const std::string& kubeconfig, minutes timeout) {
  return {.argv = std::move(argv), .env = {{"KUBECONFIG", kubeconfig}}, .timeout = timeout};
}

Step with_file(std::string what, std::string why, Command command, const manifest::ManifestFile& file) {
  command.input = file.to_text();
  return {
      .what = std::move(what), .why = std::move(why), .command = std::move(command), .input_file = file.name};
}

}  // namespace

std::string Step::to_text() const {
  const std::string line = command_line(command);
  if (input_command) return command_line(*input_command) + " | " + line;
  return input_file.empty() ? line : fmt::format("{} < {}", line, input_file);
}

Step reserve(const Deployment& deployment, const std::string& zone, const std::string& end) {
  const ClusterSettings& settings = deployment.settings;
  const GpuNodes& nodes = settings.gpu_nodes;
  const std::string tags =
      fmt::format("ResourceType=capacity-reservation,Tags=[{{Key={},Value={}}}]", kClusterTag, settings.name);
  return {.what = fmt::format("{} x {} in {}", nodes.count, nodes.type, zone),
          .why = "nothing else tells whether there is capacity; kept for the nodes when it is made",
          .command = {.argv = {"aws",
                               "ec2",
                               "create-capacity-reservation",
                               "--region",
                               settings.region,
                               "--output",
                               "json",
                               "--instance-type",
                               nodes.type,
                               "--instance-platform",
                               "Linux/UNIX",
                               "--availability-zone",
                               zone,
                               "--instance-count",
                               std::to_string(nodes.count),
                               "--instance-match-criteria",
                               "targeted",
                               "--end-date-type",
                               "limited",
                               "--end-date",
                               end,
                               "--tag-specifications",
                               tags},
                      .timeout = minutes(2)},
          .makes = Step::Makes::kReservation};
}

Step create_cluster(const Deployment& deployment) {
  Step step = with_file("the cluster, its VPC and system nodes", "takes 15 to 20 minutes",
                        {.argv = {"eksctl", "create", "cluster", "-f", "-", "--write-kubeconfig=false"},
                         .timeout = minutes(50)},
                        manifest::cluster_config(deployment));
  step.makes = Step::Makes::kCluster;
  return step;
}

Step fetch_kubeconfig(const Deployment& deployment, const std::string& kubeconfig) {
  const ClusterSettings& settings = deployment.settings;
  return {.what = "access for kubectl and helm",
          .why = "in a file of its own",
          .command = {.argv = {"aws", "eks", "update-kubeconfig", "--region", settings.region, "--name",
                               settings.name, "--kubeconfig", kubeconfig}}};
}

Step create_service_account(const Deployment& deployment) {
  return with_file(
      "the pods' identity", "lets them reach the runs in the bucket, and nothing else",
      {.argv = {"eksctl", "create", "iamserviceaccount", "-f", "-", "--approve"}, .timeout = minutes(15)},
      manifest::service_account_config(deployment));
}

Step create_gpu_nodes(const Deployment& deployment) {
  Step step =
      with_file("the GPU nodes", fmt::format("in {}", fmt::join(deployment.gpu_zones, ", ")),
                {.argv = {"eksctl", "create", "nodegroup", "-f", "-", "--install-nvidia-plugin=false"},
                 .timeout = minutes(40)},
                manifest::gpu_nodes_config(deployment));
  step.makes = Step::Makes::kGpuNodes;
  return step;
}

Step install_chart(const manifest::HelmRelease& release, const std::string& kubeconfig) {
  std::vector<std::string> argv = {"helm",
                                   "upgrade",
                                   "--install",
                                   release.name,
                                   release.chart,
                                   "--repo",
                                   release.repository,
                                   "--version",
                                   release.version,
                                   "--namespace",
                                   release.namespace_name,
                                   "--create-namespace",
                                   "--skip-crds",
                                   "--values",
                                   "-"};
  return with_file(fmt::format("chart {} {}", release.chart, release.version),
                   "pinned, and on its own nodes only",
                   with_kubeconfig(std::move(argv), kubeconfig, minutes(5)), release.values);
}

Step apply_ray_crds(const Deployment& deployment, const std::string& kubeconfig) {
  const manifest::HelmRelease release = manifest::kuberay_operator(deployment);
  return {.what = "KubeRay's definitions",
          .why = "before the operator, and again with every version: Helm never updates them",
          .command = with_kubeconfig({"kubectl", "apply", "--server-side", "--force-conflicts", "-f", "-"},
                                     kubeconfig, minutes(2)),
          .input_command = Command{.argv = {"helm", "show", "crds", release.chart, "--repo",
                                            release.repository, "--version", release.version},
                                   .timeout = minutes(2)}};
}

Step apply(const manifest::ManifestFile& file, const std::string& why, const std::string& kubeconfig) {
  return with_file(file.name, why, with_kubeconfig({"kubectl", "apply", "-f", "-"}, kubeconfig, minutes(2)),
                   file);
}

std::vector<Step> all_steps(const Deployment& deployment, const std::string& kubeconfig) {
  const ClusterSettings& settings = deployment.settings;
  std::vector<Step> steps;
  if (settings.gpu_nodes.capacity == "search")
    steps.push_back(reserve(deployment, deployment.gpu_zones.front(), "END"));
  if (!settings.existing) steps.push_back(create_cluster(deployment));
  steps.push_back(fetch_kubeconfig(deployment, kubeconfig));
  if (settings.existing && !settings.storage.s3.empty()) steps.push_back(create_service_account(deployment));
  steps.push_back(create_gpu_nodes(deployment));
  steps.push_back(install_chart(manifest::nvidia_plugin(deployment), kubeconfig));
  if (settings.uses_efa()) steps.push_back(install_chart(manifest::efa_plugin(deployment), kubeconfig));
  steps.push_back(apply_ray_crds(deployment, kubeconfig));
  steps.push_back(install_chart(manifest::kuberay_operator(deployment), kubeconfig));
  steps.push_back(apply(manifest::network_policy(deployment), "before any pod of Ray's", kubeconfig));
  if (!settings.storage.fsx_id.empty())
    steps.push_back(apply(manifest::fsx_volume(deployment), "where runs live", kubeconfig));
  steps.push_back(apply(manifest::ray_cluster(deployment), "head and workers", kubeconfig));
  return steps;
}

std::vector<manifest::ManifestFile> all_files(const Deployment& deployment) {
  const ClusterSettings& settings = deployment.settings;
  std::vector<manifest::ManifestFile> files;
  if (!settings.existing) files.push_back(manifest::cluster_config(deployment));
  if (settings.existing && !settings.storage.s3.empty())
    files.push_back(manifest::service_account_config(deployment));
  files.push_back(manifest::gpu_nodes_config(deployment));
  files.push_back(manifest::nvidia_plugin(deployment).values);
  if (settings.uses_efa()) files.push_back(manifest::efa_plugin(deployment).values);
  files.push_back(manifest::kuberay_operator(deployment).values);
  files.push_back(manifest::network_policy(deployment));
  if (!settings.storage.fsx_id.empty()) files.push_back(manifest::fsx_volume(deployment));
  files.push_back(manifest::ray_cluster(deployment));
  return files;
}

}  // namespace lockstep::cluster::eks
