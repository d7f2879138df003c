#include "lockstep/cluster/eks/readiness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/manifest/ray_cluster.h"

namespace lockstep::cluster::eks {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kEfa = "vpc.amazonaws.com/efa";

std::string name_of(const Json& object) { return text_of(part_of(object, "metadata"), "name"); }

// Kubernetes gives counts of devices as text.
int64_t devices_of(const Json& node, const std::string& resource) {
  const std::string text = text_of(part_of(part_of(node, "status"), "allocatable"), resource);
  return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10);
}

bool is_true(const Json& object, const std::string& condition) {
  for (const Json& entry : part_of(part_of(object, "status"), "conditions")) {
    if (text_of(entry, "type") == condition) return text_of(entry, "status") == "True";
  }
  return false;
}

std::string condition_message(const Json& object, const std::string& condition) {
  for (const Json& entry : part_of(part_of(object, "status"), "conditions")) {
    if (text_of(entry, "type") == condition) return text_of(entry, "message");
  }
  return "";
}

void check_plugin(Kubernetes& kubernetes, const std::string& chart, const std::string& cause, int64_t count,
                  Readiness& readiness) {
  const Json sets = kubernetes.get(
      {"daemonsets", "--namespace", "kube-system", "--selector", "app.kubernetes.io/instance=" + chart});
  const Json& items = part_of(sets, "items");
  if (items.empty()) {
    readiness.missing.push_back(fmt::format("{}: no DaemonSet yet", chart));
    return;
  }
  const Json& status = part_of(items.front(), "status");
  const int64_t desired = number_of(status, "desiredNumberScheduled"),
                ready = number_of(status, "numberReady");
  if (desired == 0)
    readiness.missing.push_back(fmt::format("{}: wanted on no node: {}", chart, cause));
  else if (ready < desired || desired < count)
    readiness.missing.push_back(fmt::format("{}: {} of {} ready", chart, ready, std::max(desired, count)));
}

// Why a pod is not running, in Kubernetes' own words.
std::string reason_of(const Json& pod) {
  for (const char* kind : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& container : part_of(part_of(pod, "status"), kind)) {
      const Json& waiting = part_of(part_of(container, "state"), "waiting");
      const std::string reason = text_of(waiting, "reason");
      if (!reason.empty() && reason != "PodInitializing" && reason != "ContainerCreating")
        return fmt::format("{}: {}", reason, text_of(waiting, "message"));
      const bool waits_for_head = text_of(container, "name") == "wait-gcs-ready" &&
                                  !part_of(part_of(container, "state"), "running").is_null();
      if (waits_for_head) return "waits for Ray's head: is it up, and are both of one Ray version?";
    }
  }
  return condition_message(pod, "PodScheduled");
}

bool never_heals(const std::string& reason) {
  static const std::regex words("InvalidImageName|ErrImageNeverPull|CreateContainerConfigError");
  return std::regex_search(reason, words);
}

void check_pod(const Json& pod, Readiness& readiness) {
  const std::string phase = text_of(part_of(pod, "status"), "phase");
  if (phase == "Running" && is_true(pod, "Ready")) {
    const std::string quality = text_of(part_of(pod, "status"), "qosClass");
    if (quality != "Guaranteed")
      readiness.broken.push_back(
          fmt::format("pod {} is {}, not Guaranteed: it can be evicted", name_of(pod), quality));
    return;
  }
  const std::string reason = reason_of(pod);
  const std::string text =
      fmt::format("pod {} is {}{}", name_of(pod), phase, reason.empty() ? "" : ": " + reason);
  (never_heals(reason) ? readiness.broken : readiness.missing).push_back(text);
}

std::string selector(const Deployment& deployment, const std::string& kind) {
  return fmt::format("ray.io/cluster={},ray.io/node-type={}", deployment.settings.ray_cluster, kind);
}

std::string first_pod(Kubernetes& kubernetes, const Deployment& deployment, const std::string& kind) {
  const Json pods = kubernetes.get(
      {"pods", "--namespace", deployment.settings.namespace_name, "--selector", selector(deployment, kind)});
  const Json& items = part_of(pods, "items");
  return items.empty() ? "" : name_of(items.front());
}

}  // namespace

std::string Readiness::to_text() const {
  std::vector<std::string> all = broken;
  all.insert(all.end(), missing.begin(), missing.end());
  return fmt::format("{}", fmt::join(all, "; "));
}

Readiness look_at_nodes(Kubernetes& kubernetes, const Deployment& deployment) {
  Readiness readiness;
  const int64_t count = deployment.settings.gpu_nodes.count;
  const Json nodes = kubernetes.get({"nodes", "--selector", "nvidia.com/gpu.present=true"});
  const Json& items = part_of(nodes, "items");
  if (static_cast<int64_t>(items.size()) < count)
    readiness.missing.push_back(fmt::format("{} of {} GPU nodes have joined", items.size(), count));
  for (const Json& node : items) {
    if (!is_true(node, "Ready"))
      readiness.missing.push_back(fmt::format("node {} is not ready", name_of(node)));
    const int64_t gpus = devices_of(node, kGpu), efa = devices_of(node, kEfa);
    if (gpus != deployment.gpu_type().gpus)
      readiness.missing.push_back(
          fmt::format("node {} gives {} of {} GPUs: a driver or plugin that does not run", name_of(node),
                      gpus, deployment.gpu_type().gpus));
    if (efa < deployment.efa_per_pod())
      readiness.missing.push_back(
          fmt::format("node {} gives {} of {} EFA: the plugin does not tolerate the node's taint, does "
                      "not know its type, or the node has no EFA interface",
                      name_of(node), efa, deployment.efa_per_pod()));
  }
  check_plugin(kubernetes, "nvidia-device-plugin", "the nodes lack the label nvidia.com/gpu.present=true",
               count, readiness);
  if (deployment.efa_per_pod() > 0)
    check_plugin(kubernetes, "aws-efa-k8s-device-plugin",
                 "this version of the chart does not know the instance type", count, readiness);
  return readiness;
}

Readiness look_at_ray(Kubernetes& kubernetes, const Deployment& deployment) {
  Readiness readiness;
  const ClusterSettings& settings = deployment.settings;
  const Json pods = kubernetes.get({"pods", "--namespace", settings.namespace_name, "--selector",
                                    "ray.io/cluster=" + settings.ray_cluster});
  const Json& items = part_of(pods, "items");
  for (const Json& pod : items) check_pod(pod, readiness);
  const int64_t wanted = settings.gpu_nodes.count + 1;
  if (static_cast<int64_t>(items.size()) < wanted)
    readiness.missing.push_back(fmt::format("{} of {} Ray pods are there", items.size(), wanted));
  if (!readiness.ready()) return readiness;

  const std::string head = first_pod(kubernetes, deployment, "head");
  if (head.empty()) {
    readiness.missing.push_back("Ray's head pod is not there");
    return readiness;
  }
  const double in_ray =
      gpus_in_ray_status(kubernetes.kubectl({"exec", head, "--namespace", settings.namespace_name,
                                             "--container", "ray-head", "--", "ray", "status"}));
  const int64_t in_pods = settings.gpu_nodes.count * deployment.gpu_type().gpus;
  if (in_ray != static_cast<double>(in_pods))
    readiness.missing.push_back(fmt::format("Ray sees {} GPUs, Kubernetes gave {}", in_ray, in_pods));
  return readiness;
}

void check_cuda(Kubernetes& kubernetes, const Deployment& deployment) {
  const std::string worker = first_pod(kubernetes, deployment, "worker");
  const std::string script =
      manifest::forward_compatibility_step() +
      "; python -c 'import torch; torch.cuda.init(); print(torch.version.cuda, torch.cuda.device_count())'";
  try {
    kubernetes.kubectl({"exec", worker, "--namespace", deployment.settings.namespace_name, "--container",
                        "ray-worker", "--", "bash", "-c", script});
  } catch (const CommandError& error) {
    const std::string said = error.what();
    throw CommandError(
        fmt::format("cluster: CUDA does not start in pod {}: {}. Is the node's driver too old for the image? "
                    "A newer node image brings a newer one (eksctl upgrade nodegroup)",
                    worker, said.substr(said.rfind(": ") + 2)));
  }
}

double gpus_in_ray_status(const std::string& text) {
  static const std::regex line(R"(/([0-9.]+) GPU\b)");
  std::smatch found;
  return std::regex_search(text, found, line) ? std::strtod(found[1].str().c_str(), nullptr) : 0;
}

}  // namespace lockstep::cluster::eks
