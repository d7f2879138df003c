#include "lockstep/cluster/eks/readiness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

#include "lockstep/base/error.h"
#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/daemonset_placement.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/manifest/ray_cluster.h"

namespace lockstep::cluster::eks {
namespace {

// Why no node wants it, as far as one of `nodes` tells.
std::string why_wanted_nowhere(const Json& set, const std::vector<Json>& nodes) {
  for (const Json& node : nodes) {
    const std::string reason = why_not_placed(set, node);
    if (!reason.empty()) return fmt::format(": on {} {}", name_of(node), reason);
  }
  return "";
}

void check_plugin(const Json& sets, const std::string& chart, const std::vector<Json>& nodes, int64_t count,
                  Readiness& readiness) {
  const Json& set = daemonset_of(sets, chart);
  if (set.is_null()) {
    readiness.missing.push_back(fmt::format("{}: no DaemonSet yet", chart));
    return;
  }
  const Json& status = part_of(set, "status");
  const int64_t desired = number_of(status, "desiredNumberScheduled"),
                ready = number_of(status, "numberReady");
  if (desired == 0)
    readiness.missing.push_back(
        fmt::format("{}: wanted on no node{}", chart, why_wanted_nowhere(set, nodes)));
  else if (ready < desired || desired < count)
    readiness.missing.push_back(fmt::format("{}: {} of {} ready", chart, ready, std::max(desired, count)));
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
  const std::string reason = why_not_running(pod);
  const std::string text =
      fmt::format("pod {} is {}{}", name_of(pod), phase, reason.empty() ? "" : ": " + reason);
  (never_heals(reason) ? readiness.broken : readiness.missing).push_back(text);
}

std::string selector(const Deployment& deployment, const std::string& kind) {
  return fmt::format("ray.io/cluster={},ray.io/node-type={}", deployment.settings.ray_cluster, kind);
}

std::string first_pod(Kubernetes& kubernetes, const Deployment& deployment, const std::string& kind) {
  const Json pods = list_pods(kubernetes, deployment.settings.namespace_name, selector(deployment, kind));
  const Json& items = part_of(pods, "items");
  return items.empty() ? "" : name_of(items.front());
}

}  // namespace

std::string Readiness::to_text() const {
  std::vector<std::string> all = broken;
  all.insert(all.end(), missing.begin(), missing.end());
  return fmt::format("{}", fmt::join(all, "; "));
}

Readiness readiness_of_nodes(const Json& all, const Json& sets, const Deployment& deployment) {
  Readiness readiness;
  const int64_t count = deployment.settings.gpu_nodes.count;
  std::vector<Json> nodes;
  for (const Json& node : part_of(all, "items")) {
    if (has_gpu_label(node)) nodes.push_back(node);
  }
  if (static_cast<int64_t>(nodes.size()) < count)
    readiness.missing.push_back(fmt::format("{} of {} GPU nodes have joined", nodes.size(), count));
  for (const Json& node : nodes) {
    if (!is_true(node, "Ready"))
      readiness.missing.push_back(fmt::format("node {} is not ready", name_of(node)));
    const int64_t gpus = devices_of(node, kGpuResource), efa = devices_of(node, kEfaResource);
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
  check_plugin(sets, "nvidia-device-plugin", nodes, count, readiness);
  if (deployment.efa_per_pod() > 0) check_plugin(sets, "aws-efa-k8s-device-plugin", nodes, count, readiness);
  return readiness;
}

Readiness look_at_nodes(Kubernetes& kubernetes, const Deployment& deployment) {
  return readiness_of_nodes(list_nodes(kubernetes), list_daemonsets(kubernetes), deployment);
}

Readiness readiness_of_pods(const Json& pods, const Deployment& deployment) {
  Readiness readiness;
  const ClusterSettings& settings = deployment.settings;
  int64_t heads = 0, workers = 0;
  for (const Json& pod : part_of(pods, "items")) {
    if (label_of(pod, "ray.io/cluster") != settings.ray_cluster) continue;
    (ray_role(pod) == "head" ? heads : workers) += 1;
    check_pod(pod, readiness);
  }
  if (heads == 0) readiness.missing.push_back("Ray's head pod is not there");
  if (workers < settings.gpu_nodes.count)
    readiness.missing.push_back(
        fmt::format("{} of {} worker pods are there", workers, settings.gpu_nodes.count));
  return readiness;
}

Readiness look_at_ray(Kubernetes& kubernetes, const Deployment& deployment) {
  const ClusterSettings& settings = deployment.settings;
  Readiness readiness = readiness_of_pods(list_pods(kubernetes, settings.namespace_name), deployment);
  if (!readiness.ready()) return readiness;
  const double in_ray = gpus_in_ray_status(
      ray_status(kubernetes, settings.namespace_name, first_pod(kubernetes, deployment, "head")));
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
