#include "lockstep/cluster/eks/kubernetes_object.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/base/split.h"
#include "lockstep/cluster/eks/answer.h"

namespace lockstep::cluster::eks {
namespace {

// What `ray list` prints instead of an empty list (ray-project/ray, python/ray/util/state/state_cli.py).
constexpr std::string_view kNoJobs = "No resource in the cluster";

const Json& condition_of(const Json& object, const std::string& type) {
  static const Json nothing;
  for (const Json& entry : part_of(part_of(object, "status"), "conditions")) {
    if (text_of(entry, "type") == type) return entry;
  }
  return nothing;
}

}  // namespace

std::string name_of(const Json& object) { return text_of(part_of(object, "metadata"), "name"); }

std::string label_of(const Json& object, const std::string& label) {
  return text_of(part_of(part_of(object, "metadata"), "labels"), label);
}

// Kubernetes gives counts of devices as text.
int64_t devices_of(const Json& node, const std::string& resource) {
  const std::string text = text_of(part_of(part_of(node, "status"), "allocatable"), resource);
  return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10);
}

bool has_gpu_label(const Json& node) { return label_of(node, "nvidia.com/gpu.present") == "true"; }

bool is_true(const Json& object, const std::string& condition) {
  return text_of(condition_of(object, condition), "status") == "True";
}

std::string condition_message(const Json& object, const std::string& condition) {
  return text_of(condition_of(object, condition), "message");
}

bool is_leaving(const Json& object) { return part_of(object, "metadata").contains("deletionTimestamp"); }

bool waits_for_head(const Json& pod) {
  for (const Json& container : part_of(part_of(pod, "status"), "initContainerStatuses")) {
    if (text_of(container, "name") == "wait-gcs-ready")
      return !part_of(part_of(container, "state"), "running").is_null();
  }
  return false;
}

std::string why_not_running(const Json& pod) {
  for (const char* kind : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& container : part_of(part_of(pod, "status"), kind)) {
      const Json& waiting = part_of(part_of(container, "state"), "waiting");
      const std::string reason = text_of(waiting, "reason");
      if (!reason.empty() && reason != "PodInitializing" && reason != "ContainerCreating")
        return fmt::format("{}: {}", reason, text_of(waiting, "message"));
    }
  }
  if (waits_for_head(pod)) return "waits for Ray's head: is it up, and are both of one Ray version?";
  return condition_message(pod, "PodScheduled");
}

std::string ray_role(const Json& pod) { return label_of(pod, "ray.io/node-type"); }

Json list_nodes(Kubernetes& kubernetes) { return kubernetes.get({"nodes"}); }

Json list_daemonsets(Kubernetes& kubernetes) {
  return kubernetes.get({"daemonsets", "--namespace", "kube-system"});
}

Json list_pods(Kubernetes& kubernetes, const std::string& name_space, const std::string& selector) {
  std::vector<std::string> words = {"pods", "--namespace", name_space};
  if (!selector.empty()) words.insert(words.end(), {"--selector", selector});
  return kubernetes.get(std::move(words));
}

Json list_events(Kubernetes& kubernetes, const std::string& name_space) {
  return kubernetes.get({"events", "--namespace", name_space});
}

Json list_ray_jobs(Kubernetes& kubernetes, const std::string& name_space) {
  return kubernetes.get({"rayjobs", "--namespace", name_space});
}

Json list_operators(Kubernetes& kubernetes) {
  return kubernetes.get({"deployments", "--namespace", kOperatorNamespace});
}

Json list_ray_clusters(Kubernetes& kubernetes, const std::string& name_space) {
  return kubernetes.get({"rayclusters", "--namespace", name_space});
}

const Json& daemonset_of(const Json& daemonsets, const std::string& release) {
  static const Json nothing;
  for (const Json& set : part_of(daemonsets, "items")) {
    if (label_of(set, "app.kubernetes.io/instance") == release) return set;
  }
  return nothing;
}

std::string tag_of(const std::string& image) {
  const size_t colon = image.rfind(':');
  const bool is_tag =
      colon != image.npos && image.find('@') == image.npos && image.find('/', colon) == image.npos;
  return is_tag ? image.substr(colon + 1) : "";
}

Json list_jobs_of_ray(Kubernetes& kubernetes, const std::string& name_space, const std::string& head) {
  const std::string out = kubernetes.kubectl({"exec", head, "--namespace", name_space, "--container",
                                              "ray-head", "--", "ray", "list", "jobs", "--format", "json"});
  if (trimmed(out) == kNoJobs) return Json::array();
  Json jobs = Json::parse(out, nullptr, /*allow_exceptions=*/false);
  if (!jobs.is_array()) throw CommandError(fmt::format("ray list jobs in {}: its answer is no list", head));
  return jobs;
}

std::string ray_status(Kubernetes& kubernetes, const std::string& name_space, const std::string& head) {
  return kubernetes.kubectl(
      {"exec", head, "--namespace", name_space, "--container", "ray-head", "--", "ray", "status"});
}

}  // namespace lockstep::cluster::eks
