// Whether Ray's pods come up and stay: driver, head, probes, memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/cluster/doctor/checks.h"
#include "lockstep/cluster/doctor/worker_evidence.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::is_true;
using eks::label_of;
using eks::name_of;
using eks::part_of;
using eks::ray_role;
using eks::text_of;
using eks::waits_for_head;
using eks::why_not_running;

constexpr std::chrono::minutes kLongWait{3};  // KubeRay's own init container complains after two

const Json& pods(const Observation& seen) { return part_of(seen.cluster.need().pods.need(), "items"); }

std::vector<Json> pods_of_role(const Observation& seen, const std::string& role) {
  std::vector<Json> found;
  for (const Json& pod : pods(seen)) {
    if (ray_role(pod) == role) found.push_back(pod);
  }
  return found;
}

// KubeRay's rule: Ray's own comes first.
const Json& ray_container(const Json& pod) {
  static const Json nothing;
  const Json& containers = part_of(part_of(pod, "spec"), "containers");
  return containers.empty() ? nothing : containers.front();
}

std::string waiting_since(const Json& pod) {
  for (const Json& container : part_of(part_of(pod, "status"), "initContainerStatuses")) {
    if (text_of(container, "name") == "wait-gcs-ready")
      return text_of(part_of(part_of(container, "state"), "running"), "startedAt");
  }
  return "";
}

const Json* head_of(const std::vector<Json>& heads, const Json& worker) {
  for (const Json& head : heads) {
    if (label_of(head, "ray.io/cluster") == label_of(worker, "ray.io/cluster")) return &head;
  }
  return nullptr;
}

// What Kubernetes says last of a pod by this reason; "" where it says nothing.
std::string event_of(const Observation& seen, const Json& pod, const std::string& reason) {
  std::string message;
  for (const Json& event : part_of(seen.cluster.need().events.need(), "items")) {
    if (text_of(part_of(event, "involvedObject"), "name") == name_of(pod) &&
        text_of(event, "reason") == reason)
      message = text_of(event, "message");
  }
  return message;
}

bool probes_by_wget(const Json& container) {
  for (const char* kind : {"readinessProbe", "livenessProbe"}) {
    if (part_of(part_of(part_of(container, kind), "exec"), "command").dump().find("wget") !=
        std::string::npos)
      return true;
  }
  return false;
}

bool mounts_memory_at_dev_shm(const Json& pod) {
  for (const Json& mount : part_of(ray_container(pod), "volumeMounts")) {
    if (text_of(mount, "mountPath") != "/dev/shm") continue;
    for (const Json& volume : part_of(part_of(pod, "spec"), "volumes")) {
      if (text_of(volume, "name") == text_of(mount, "name"))
        return text_of(part_of(volume, "emptyDir"), "medium") == "Memory";
    }
  }
  return false;
}

}  // namespace

Finding check_driver_of_pods(const Observation& seen) {
  const std::string cause = "the worker was given GPUs, and cannot use them: it would train on the CPU";
  return from_reports(
      seen, {"driver", "gpus"},
      {{"driver", cause,
        "is nvidia.com/gpu among the container's limits, and is Lockstep in the image a build with "
        "CUDA? The node's container runtime must be NVIDIA's (an image for NVIDIA GPUs)"},
       {"gpus", cause, "unset CUDA_VISIBLE_DEVICES in the worker's environment"}});
}

Finding check_head_reached(const Observation& seen) {
  const std::vector<Json> heads = pods_of_role(seen, "head"), workers = pods_of_role(seen, "worker");
  if (workers.empty()) return nothing_to_see("there is no worker pod");
  for (const Json& worker : workers) {
    const std::string since = waiting_since(worker);
    if (!waits_for_head(worker) || !seen.is_older(since, kLongWait)) continue;
    const std::string saw = fmt::format("{} waits in wait-gcs-ready since {}", name_of(worker), since);
    const Json* head = head_of(heads, worker);
    if (!head)
      return fault(saw, "there is no head pod", "`kubectl describe raycluster` tells why KubeRay made none");
    if (!is_true(*head, "Ready")) {
      const std::string reason = why_not_running(*head);
      return fault(fmt::format("{}; head {} is {}, not ready", saw, name_of(*head),
                               text_of(part_of(*head, "status"), "phase")),
                   reason.empty() ? "the head is not up" : "the head is not up: " + reason,
                   "`lockstep cluster logs` has its words; one that does not fit its node needs smaller "
                   "head.cpus and head.memory_gib");
    }
    const std::string image = text_of(ray_container(*head), "image"),
                      other = text_of(ray_container(worker), "image");
    if (image != other)
      return fault(fmt::format("{}; the head runs {}, the worker {}", saw, image, other),
                   "head and workers must be of one release of Ray", "give both groups the same image");
    return fault(saw + "; the head is ready", "the worker does not reach it: DNS, or a network policy",
                 "`kubectl get pods -n kube-system -l k8s-app=kube-dns`, and `kubectl get networkpolicies`: "
                 "`lockstep cluster up` applies one that lets Ray's own pods through");
  }
  return good(fmt::format("none of {} workers waits for its head for long", workers.size()));
}

Finding check_readiness_probe(const Observation& seen) {
  std::vector<std::string> ready;
  for (const std::string role : {"head", "worker"}) {
    for (const Json& pod : pods_of_role(seen, role)) {
      if (is_true(pod, "Ready")) {
        ready.push_back(name_of(pod));
        continue;
      }
      if (!probes_by_wget(ray_container(pod))) continue;
      const std::string said = event_of(seen, pod, "Unhealthy");
      if (said.find("wget") == std::string::npos) continue;
      std::string version;
      for (const Json& cluster : part_of(seen.cluster.need().ray_clusters.need(), "items")) {
        if (name_of(cluster) == label_of(pod, "ray.io/cluster"))
          version = text_of(part_of(cluster, "spec"), "rayVersion");
      }
      return fault(
          fmt::format("{}: {}; rayVersion is {}", name_of(pod), said, version.empty() ? "not set" : version),
          "KubeRay probes by wget, which the image lacks: from 1.6 on it does so only where rayVersion is "
          "absent or below 2.53, before always",
          fmt::format("set rayVersion to the image's ({}: image.ray_version), with KubeRay 1.6 or newer "
                      "(charts.kuberay)",
                      seen.settings().image.ray_version));
    }
  }
  if (ready.empty()) return nothing_to_see("no Ray pod is ready, and none fails its probe for wget");
  return good(fmt::format("{} ready", fmt::join(ready, ", ")));
}

Finding check_head_memory(const Observation& seen) {
  const std::vector<Json> heads = pods_of_role(seen, "head");
  if (heads.empty()) return nothing_to_see("there is no head pod");
  for (const Json& head : heads) {
    std::string end;
    for (const Json& container : part_of(part_of(head, "status"), "containerStatuses")) {
      for (const char* kind : {"lastState", "state"}) {
        const Json& terminated = part_of(part_of(container, kind), "terminated");
        if (text_of(terminated, "reason") == "OOMKilled")
          end = fmt::format("was killed for memory at {}", text_of(terminated, "finishedAt"));
      }
    }
    if (text_of(part_of(head, "status"), "reason") == "Evicted")
      end = "was evicted: " + text_of(part_of(head, "status"), "message");
    if (end.empty()) continue;
    const Json& limits = part_of(part_of(ray_container(head), "resources"), "limits");
    return fault(
        fmt::format("{} {}; its limit is {}", name_of(head), end, text_of(limits, "memory")),
        "Ray's control store is in the head's memory: with it all jobs are lost",
        "raise head.memory_gib (and system_nodes.type); the run itself goes on from its newest checkpoint "
        "when it is submitted again");
  }
  return good(fmt::format("{}: neither killed for memory nor evicted", name_of(heads.front())));
}

Finding check_shared_memory_of_pods(const Observation& seen) {
  const std::vector<Json> workers = pods_of_role(seen, "worker");
  if (workers.empty()) return nothing_to_see("there is no worker pod");
  const std::string fix =
      "mount an emptyDir with medium: Memory at /dev/shm in the worker's group; KubeRay does unless "
      "plasma-directory is set in rayStartParams";
  for (const Json& worker : workers) {
    if (!mounts_memory_at_dev_shm(worker))
      return fault(fmt::format("{} mounts no memory at /dev/shm", name_of(worker)),
                   "it is 64 MiB then; NCCL and Ray's object store need more", fix);
  }
  if (const auto line = find_line(seen, "/dev/shm.*No space left|No space left.*/dev/shm"))
    return fault(to_text(*line), "/dev/shm is full", fix);
  return from_reports(seen, {"/dev/shm"});
}

}  // namespace lockstep::cluster::doctor
