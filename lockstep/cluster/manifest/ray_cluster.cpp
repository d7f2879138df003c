#include "lockstep/cluster/manifest/ray_cluster.h"

#include <fmt/format.h>

#include "lockstep/cluster/manifest/storage.h"

namespace lockstep::cluster::manifest {
namespace {

using eks::Deployment;

Json variable(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

void add_token(Json& environment, const Deployment& deployment) {
  if (deployment.operator_makes_token()) return;  // it sets both variables itself
  environment.push_back(variable("RAY_AUTH_MODE", "token"));
  environment.push_back(
      {{"name", "RAY_AUTH_TOKEN"},
       {"valueFrom", {{"secretKeyRef", {{"name", deployment.token_secret()}, {"key", "auth_token"}}}}}});
}

Json head_environment(const Deployment& deployment) {
  // Without it the GPU hook of the node's container runtime fails where there is no driver.
  Json environment = Json::array({variable("NVIDIA_VISIBLE_DEVICES", "void")});
  environment.push_back(variable("LOCKSTEP_IMAGE", deployment.settings.image.reference));
  add_token(environment, deployment);
  return environment;
}

Json worker_environment(const Deployment& deployment) {
  Json environment = Json::array({variable("NCCL_DEBUG", "INFO"), variable("NCCL_SOCKET_IFNAME", "eth0")});
  if (deployment.settings.uses_efa()) {
    environment.push_back(variable("FI_PROVIDER", "efa"));
    environment.push_back(variable("NCCL_NET_PLUGIN", "ofi"));
  }
  environment.push_back(variable("LOCKSTEP_IMAGE", deployment.settings.image.reference));
  add_token(environment, deployment);
  return environment;
}

// Requests equal to limits in every resource: the pod's quality of service is Guaranteed.
Json resources(const Json& amounts) { return {{"requests", amounts}, {"limits", amounts}}; }

Json container(const Deployment& deployment, const std::string& name, const Json& environment,
               const Json& amounts) {
  return {
      {"name", name},
      {"image", deployment.settings.image.reference},
      {"imagePullPolicy", deployment.settings.image.is_pinned() ? "IfNotPresent" : "Always"},
      {"env", environment},
      {"resources", resources(amounts)},
      {"volumeMounts", Json::array({{{"name", "ray-logs"}, {"mountPath", "/tmp/ray"}}})},
      {"lifecycle", {{"preStop", {{"exec", {{"command", Json::array({"/bin/sh", "-c", "ray stop"})}}}}}}}};
}

Json pod(const Deployment& deployment, Json container) {
  const eks::ClusterSettings& settings = deployment.settings;
  Json volumes = Json::array({{{"name", "ray-logs"}, {"emptyDir", Json::object()}}});
  if (!settings.storage.fsx_id.empty()) {
    volumes.push_back({{"name", "fsx"}, {"persistentVolumeClaim", {{"claimName", kFsxClaim}}}});
    container["volumeMounts"].push_back({{"name", "fsx"}, {"mountPath", "/fsx"}});
  }
  Json spec = {{"automountServiceAccountToken", false},  // nothing in the pods asks Kubernetes anything
               {"terminationGracePeriodSeconds", 120},   // for a last checkpoint
               {"containers", Json::array({std::move(container)})},
               {"volumes", volumes}};
  // Its identity in AWS, which comes in a file of its own.
  if (!settings.storage.s3.empty()) spec["serviceAccountName"] = eks::kServiceAccount;
  return {{"spec", spec}};
}

Json head_group(const Deployment& deployment) {
  const eks::HeadPod& head = deployment.settings.head;
  Json ray =
      container(deployment, "ray-head", head_environment(deployment),
                {{"cpu", std::to_string(head.cpus)}, {"memory", fmt::format("{}Gi", head.memory_gib)}});
  ray["ports"] = Json::array({{{"name", "gcs-server"}, {"containerPort", 6379}},
                              {{"name", "dashboard"}, {"containerPort", 8265}},
                              {{"name", "client"}, {"containerPort", 10001}}});
  Json head_pod = pod(deployment, ray);
  // A cluster that was there already has nodes of its own for it; the taint keeps it off the GPU nodes.
  if (!deployment.settings.existing) head_pod["spec"]["nodeSelector"] = {{"role", "system"}};
  return {{"serviceType", "ClusterIP"},
          {"rayStartParams", {{"dashboard-host", "0.0.0.0"}, {"num-gpus", "0"}}},
          {"template", head_pod}};
}

Json worker_group(const Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  const std::string num_gpus = std::to_string(deployment.gpu_type().gpus);
  Json amounts = {{"cpu", std::to_string(settings.worker.cpus.value())},
                  {"memory", fmt::format("{}Gi", settings.worker.memory_gib.value())},
                  {"nvidia.com/gpu", num_gpus}};
  if (deployment.efa_per_pod() > 0)
    amounts["vpc.amazonaws.com/efa"] = std::to_string(deployment.efa_per_pod());
  Json ray = container(deployment, "ray-worker", worker_environment(deployment), amounts);
  ray["command"] = Json::array({forward_compatibility_step()});
  if (deployment.efa_per_pod() > 0)
    ray["securityContext"] = {{"capabilities", {{"add", Json::array({"IPC_LOCK"})}}}};  // EFA pins memory
  Json worker_pod = pod(deployment, ray);
  worker_pod["spec"]["nodeSelector"] = {{"role", "gpu-worker"}};
  worker_pod["spec"]["tolerations"] =
      Json::array({{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}});
  return {{"groupName", settings.gpu_nodes.name},       {"replicas", settings.gpu_nodes.count},
          {"minReplicas", settings.gpu_nodes.count},    {"maxReplicas", settings.gpu_nodes.count},
          {"rayStartParams", {{"num-gpus", num_gpus}}}, {"template", worker_pod}};
}

}  // namespace

std::string forward_compatibility_step() {
  return "compat=/usr/local/cuda/compat; "
         "driver=`sed -n 's/^NVRM version:.* \\([0-9][0-9]*\\)\\.[0-9][0-9.]* .*/\\1/p' "
         "/proc/driver/nvidia/version "
         "2>/dev/null`; "
         "newest=`ls $compat/libcuda.so.*.* 2>/dev/null | sed -n "
         "'s/.*libcuda\\.so\\.\\([0-9][0-9]*\\)\\..*/\\1/p' | "
         "sort -n | tail -n 1`; "
         "if [ -n \"$driver\" ] && [ -n \"$newest\" ] && [ \"$driver\" -lt \"$newest\" ]; then "
         "export LD_LIBRARY_PATH=$compat:$LD_LIBRARY_PATH; fi";
}

ManifestFile ray_cluster(const Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  Json spec = {{"rayVersion", settings.image.ray_version}};
  if (deployment.operator_makes_token()) spec["authOptions"] = {{"mode", "token"}};
  spec["headGroupSpec"] = head_group(deployment);
  spec["workerGroupSpecs"] = Json::array({worker_group(deployment)});
  const Json cluster = {
      {"apiVersion", "ray.io/v1"},
      {"kind", "RayCluster"},
      {"metadata", {{"name", settings.ray_cluster}, {"namespace", settings.namespace_name}}},
      {"spec", spec}};
  return {"raycluster.yaml", "Ray: kubectl apply -f raycluster.yaml", {cluster}};
}

}  // namespace lockstep::cluster::manifest
