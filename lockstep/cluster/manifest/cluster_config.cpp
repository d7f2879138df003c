#include "lockstep/cluster/manifest/cluster_config.h"

#include "lockstep/cluster/manifest/storage.h"

namespace lockstep::cluster::manifest {
namespace {

using eks::Deployment;
using eks::kClusterTag;

Json config_of(const Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  return {{"apiVersion", "eksctl.io/v1alpha5"},
          {"kind", "ClusterConfig"},
          {"metadata", {{"name", settings.name}, {"region", settings.region}}}};
}

Json tags_of(const Deployment& deployment) { return {{kClusterTag, deployment.settings.name}}; }

std::string gateway_of(const std::string& nat) {
  if (nat == "none") return "Disable";
  return nat == "single" ? "Single" : "HighlyAvailable";
}

void put_network(Json& config, const Deployment& deployment) {
  const eks::VpcSettings& vpc = deployment.settings.vpc;
  config["vpc"] = {{"clusterEndpoints", {{"privateAccess", true}, {"publicAccess", true}}}};
  if (vpc.id.empty()) {
    config["availabilityZones"] = deployment.cluster_zones;
    config["vpc"]["nat"] = {{"gateway", gateway_of(vpc.nat)}};
    return;
  }
  config["vpc"]["id"] = vpc.id;
  for (const auto& [zone, subnet] : vpc.private_subnets)
    config["vpc"]["subnets"]["private"][zone] = {{"id", subnet}};
}

Json service_accounts(const Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  Json account = {{"metadata", {{"name", eks::kServiceAccount}, {"namespace", settings.namespace_name}}},
                  {"attachPolicy", bucket_policy(settings.storage.s3, settings.region)}};
  account["tags"] = tags_of(deployment);
  return Json::array({account});
}

Json addons(const Deployment& deployment) {
  // Network policies are in force only where the CNI is told so.
  Json list =
      Json::array({{{"name", "vpc-cni"}, {"configurationValues", R"({"enableNetworkPolicy": "true"})"}},
                   {{"name", "coredns"}},
                   {{"name", "kube-proxy"}},
                   {{"name", "metrics-server"}}});
  if (!deployment.settings.storage.fsx_id.empty()) list.push_back({{"name", "aws-fsx-csi-driver"}});
  return list;
}

Json node_group(const Deployment& deployment, const std::string& name, const std::string& type, int64_t count,
                int64_t volume_gib) {
  return {{"name", name},
          {"instanceType", type},
          {"amiFamily", "AmazonLinux2023"},
          {"desiredCapacity", count},
          {"minSize", count},
          {"maxSize", count},
          {"privateNetworking", true},
          {"volumeSize", volume_gib},
          {"volumeType", "gp3"},
          {"tags", tags_of(deployment)}};
}

Json system_nodes(const Deployment& deployment) {
  const eks::SystemNodes& nodes = deployment.settings.system_nodes;
  Json group = node_group(deployment, nodes.name, nodes.type, nodes.count, nodes.volume_gib);
  group["labels"] = {{"role", "system"}};
  return group;
}

void put_place(Json& group, const Deployment& deployment) {
  const auto& subnets = deployment.settings.vpc.private_subnets;
  for (const std::string& zone : deployment.gpu_zones) {
    if (subnets.empty()) {
      group["availabilityZones"].push_back(zone);
    } else {
      group["subnets"].push_back(subnets.at(zone));
    }
  }
}

void put_capacity(Json& group, const Deployment& deployment) {
  const std::string& capacity = deployment.settings.gpu_nodes.capacity;
  if (capacity == "spot") group["spot"] = true;
  // "…ID": with "…Id" eksctl drops the key without a word, and the nodes go anywhere.
  if (!deployment.reservation.empty())
    group["capacityReservation"]["capacityReservationTarget"]["capacityReservationID"] =
        deployment.reservation;
  if (capacity == "capacity_block") group["instanceMarketOptions"]["marketType"] = "capacity-block";
}

Json gpu_nodes(const Deployment& deployment) {
  const eks::GpuNodes& nodes = deployment.settings.gpu_nodes;
  Json group = node_group(deployment, nodes.name, nodes.type, nodes.count, nodes.volume_gib);
  group["minSize"] = 0;  // so that they can be scaled away and back
  put_place(group, deployment);
  if (deployment.settings.uses_efa()) group["efaEnabled"] = true;
  put_capacity(group, deployment);
  // The NVIDIA plugin's affinity wants the label, and nothing else here sets it.
  group["labels"] = {{"role", "gpu-worker"}, {"nvidia.com/gpu.present", "true"}};
  // Keeps everything else off the GPU nodes, eksctl's own, older EFA plugin as well.
  group["taints"] =
      Json::array({{{"key", "nvidia.com/gpu"}, {"value", "present"}, {"effect", "NoSchedule"}}});
  return group;
}

}  // namespace

ManifestFile cluster_config(const Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  Json config = config_of(deployment);
  config["metadata"]["version"] = settings.kubernetes_version;
  config["metadata"]["tags"] = tags_of(deployment);
  put_network(config, deployment);
  config["iam"] = {{"withOIDC", true}};
  if (!settings.storage.s3.empty()) config["iam"]["serviceAccounts"] = service_accounts(deployment);
  config["addons"] = addons(deployment);
  config["managedNodeGroups"] = Json::array({system_nodes(deployment)});
  return {"eksctl-cluster.yaml",
          "The cluster and its system nodes: eksctl create cluster -f eksctl-cluster.yaml",
          {config}};
}

ManifestFile gpu_nodes_config(const Deployment& deployment) {
  Json config = config_of(deployment);
  config["managedNodeGroups"] = Json::array({gpu_nodes(deployment)});
  return {"eksctl-gpu-nodes.yaml",
          "The GPU nodes: eksctl create nodegroup -f eksctl-gpu-nodes.yaml --install-nvidia-plugin=false",
          {config}};
}

ManifestFile whole_config(const Deployment& deployment) {
  ManifestFile whole = cluster_config(deployment);
  whole.documents[0]["managedNodeGroups"].push_back(gpu_nodes(deployment));
  return whole;
}

ManifestFile service_account_config(const Deployment& deployment) {
  Json config = config_of(deployment);
  config["iam"] = {{"withOIDC", true}, {"serviceAccounts", service_accounts(deployment)}};
  return {"eksctl-service-account.yaml",
          "The pods' identity: eksctl create iamserviceaccount -f eksctl-service-account.yaml --approve",
          {config}};
}

}  // namespace lockstep::cluster::manifest
