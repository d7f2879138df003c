#include "lockstep/cluster/manifest/review.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe_value.h"
#include "lockstep/base/yaml_document.h"
#include "lockstep/cluster/eks/deployment.h"

namespace lockstep::cluster::manifest {
namespace {

const Json& at(const Json& object, const std::string& path) {
  static const Json nothing;
  const Json::json_pointer pointer(path);
  return object.contains(pointer) ? object.at(pointer) : nothing;
}

std::string text_at(const Json& object, const std::string& path) {
  const Json& value = at(object, path);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

const Json& containers_of(const Json& group) { return at(group, "/template/spec/containers"); }

std::string limit_of(const Json& group, const std::string& resource) {
  const Json& containers = containers_of(group);
  if (!containers.is_array() || containers.empty()) return "";
  const Json& limits = at(containers.front(), "/resources/limits");
  const auto found = limits.find(resource);
  if (!limits.is_object() || found == limits.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

class Review {
 public:
  std::vector<std::string> take() { return std::move(faults_); }

  void ray_cluster(const Json& document) {
    check_name(document, 53);
    cluster_spec(at(document, "/spec"), "spec");
  }

  void ray_job(const Json& document) {
    check_name(document, 47);
    const Json& spec = at(document, "/spec");
    const Json& cluster = at(spec, "/rayClusterSpec");
    const bool shuts_down = at(spec, "/shutdownAfterJobFinishes") == true;
    if (!at(spec, "/ttlSecondsAfterFinished").is_null() && !shuts_down) {
      const int64_t nodes = gpu_replicas(cluster);
      fault(fmt::format(
          "spec.ttlSecondsAfterFinished has no effect without spec.shutdownAfterJobFinishes: true: {} would "
          "go on billing after the job. Add shutdownAfterJobFinishes: true",
          nodes > 0 ? fmt::format("{} GPU nodes", nodes) : "the cluster's nodes"));
    }
    if (at(spec, "/suspend") == true && !shuts_down)
      fault("spec.suspend needs spec.shutdownAfterJobFinishes: true");
    const std::string mode = text_at(spec, "/submissionMode");
    if (mode == "InteractiveMode" && !at(spec, "/backoffLimit").is_null())
      fault("spec.backoffLimit cannot be with spec.submissionMode: InteractiveMode");
    if (mode == "SidecarMode" && !at(spec, "/submitterPodTemplate").is_null())
      fault("spec.submitterPodTemplate cannot be with spec.submissionMode: SidecarMode");
    if (!cluster.is_null()) cluster_spec(cluster, "spec.rayClusterSpec");
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  void check_name(const Json& document, size_t longest) {
    const std::string name = text_at(document, "/metadata/name");
    if (name.size() > longest)
      fault(fmt::format("metadata.name has {} characters, and KubeRay takes {}: {}", name.size(), longest,
                        name));
  }

  static int64_t gpu_replicas(const Json& cluster) {
    int64_t replicas = 0;
    for (const Json& group : at(cluster, "/workerGroupSpecs")) {
      if (!limit_of(group, "nvidia.com/gpu").empty()) replicas += group.value("replicas", int64_t{1});
    }
    return replicas;
  }

  void cluster_spec(const Json& spec, const std::string& path) {
    const std::string version = text_at(spec, "/rayVersion");
    if (text_at(spec, "/authOptions/mode") == "token" && eks::is_version_before(version, "2.52"))
      fault(fmt::format("{}.authOptions.mode: token needs rayVersion 2.52, got \"{}\"", path, version));
    const Json& head = at(spec, "/headGroupSpec");
    group(head, path + ".headGroupSpec");
    const std::string service = text_at(head, "/serviceType");
    if (service == "LoadBalancer" || service == "NodePort")
      fault(fmt::format(
          "{}.headGroupSpec.serviceType: {} opens Ray's job server to the outside: use ClusterIP and "
          "`kubectl port-forward`",
          path, service));
    int index = 0;
    const bool scales = at(spec, "/enableInTreeAutoscaling") == true;
    for (const Json& worker : at(spec, "/workerGroupSpecs")) {
      const std::string place = fmt::format("{}.workerGroupSpecs[{}]", path, index++);
      group(worker, place);
      replicas(worker, place, scales);
    }
  }

  void group(const Json& group, const std::string& path) {
    if (!containers_of(group).is_array() || containers_of(group).empty())
      fault(path + ".template.spec.containers is empty: Ray's container comes first in it");
    const Json& parameters = at(group, "/rayStartParams");
    for (const auto& [name, value] : parameters.items()) {
      if (!value.is_string())
        fault(fmt::format("{}.rayStartParams.{} must be text: put {} in quotes", path, name, value.dump()));
    }
    if (parameters.is_object() && parameters.contains("labels"))
      fault(path + ".rayStartParams.labels is refused: use the group's labels");
    const std::string in_ray = text_at(parameters, "/num-gpus"), in_pod = limit_of(group, "nvidia.com/gpu");
    if (!in_ray.empty() && in_ray != "0" && in_ray != (in_pod.empty() ? "0" : in_pod))
      fault(fmt::format(
          "{}.rayStartParams.num-gpus is {}, and its pod has {}: Ray would place work on GPUs that are not "
          "there, or leave some idle",
          path, in_ray, in_pod.empty() ? "no nvidia.com/gpu" : in_pod + " nvidia.com/gpu"));
  }

  void replicas(const Json& worker, const std::string& path, bool scales) {
    const Json &least = at(worker, "/minReplicas"), &most = at(worker, "/maxReplicas");
    if (!scales && (least.is_null() || most.is_null())) fault(path + " needs minReplicas and maxReplicas");
    if (least.is_number() && most.is_number() && least > most)
      fault(fmt::format("{}.minReplicas is {}, above maxReplicas {}", path, least.dump(), most.dump()));
  }

  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> faults_in(const Json& document) {
  Review review;
  const bool is_ray = text_at(document, "/apiVersion") == "ray.io/v1";
  const std::string kind = text_at(document, "/kind");
  if (is_ray && kind == "RayCluster") review.ray_cluster(document);
  if (is_ray && kind == "RayJob") review.ray_job(document);
  return review.take();
}

bool is_guaranteed(const Json& pod_template) {
  const Json& containers = at(pod_template, "/spec/containers");
  return std::all_of(containers.begin(), containers.end(), [](const Json& container) {
    const Json& limits = at(container, "/resources/limits");
    return limits.is_object() && limits.contains("cpu") && limits.contains("memory") &&
           limits == at(container, "/resources/requests");
  });
}

Json load_manifest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw ConfigError(fmt::format("{}: no file that could be read", path));
  const YAML::Node document = parse_yaml(text, path);
  if (!document.IsMap()) return Json();
  return RecipeType<Json>::read({.key = "", .name = "the document", .origin = path, .node = document});
}

bool is_manifest(const Json& document) {
  return document.is_object() && document.contains("apiVersion") && document.contains("kind");
}

}  // namespace lockstep::cluster::manifest
