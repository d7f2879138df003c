#include "lockstep/cluster/check_ray.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lockstep/cluster/ray_resource.h"
#include "lockstep/cluster/ray_version.h"

namespace lockstep::cluster {
namespace {

const RayNode* node_at(const std::vector<RayNode>& nodes, const std::string& ip) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const RayNode& node) { return node.is_alive && node.ip == ip; });
  return found == nodes.end() ? nullptr : &*found;
}

// Those of the Ray cluster with these nodes: a namespace may hold several.
std::vector<RayPod> pods_of(const std::vector<RayNode>& nodes, const std::vector<RayPod>& all) {
  std::set<std::string> clusters;
  for (const RayPod& pod : all) {
    if (node_at(nodes, pod.ip)) clusters.insert(pod.cluster);
  }
  std::vector<RayPod> pods;
  for (const RayPod& pod : all) {
    if (clusters.contains(pod.cluster)) pods.push_back(pod);
  }
  return pods;
}

// What Ray has for a pod, where that is something else than Kubernetes gave it; else nothing.
std::string difference(const RayPod& pod, const RayNode* node) {
  const double counts = node ? node->amount("GPU") : 0;
  if (counts == pod.gpus) return "";
  return fmt::format("{} was given {}, and Ray has {}", pod.label(), counted(pod.gpus, "GPU"),
                     node ? counted_on(*node, "GPU") + " there" : "no node at " + pod.ip);
}

}  // namespace

Check check_ray_version(const std::string& version) {
  Check check{.name = "ray", .saw = "Ray " + version};
  if (const auto warning = ray_version_warning(version)) {
    check.state = CheckState::kNote;
    check.why = *warning;
  }
  return check;
}

Check check_ray_nodes(const std::vector<RayNode>& nodes) {
  std::vector<std::string> dead;
  for (const RayNode& node : nodes) {
    if (!node.is_alive) dead.push_back(node.label());
  }
  Check check{.name = "nodes", .saw = fmt::format("{} live", nodes.size() - dead.size())};
  if (dead.empty()) return check;
  check.saw += fmt::format(", {} dead: {}", dead.size(), fmt::join(dead, ", "));
  check.state = CheckState::kNote;
  check.why = "a node that died stays in Ray's list; one that took its place has an entry of its own";
  return check;
}

Check check_gpu_counts(const std::vector<RayNode>& nodes, const std::vector<RayPod>& all_pods) {
  const std::vector<RayPod> pods = pods_of(nodes, all_pods);
  double given = 0, counts = 0;
  std::vector<std::string> differences;
  for (const RayPod& pod : pods) {
    const RayNode* node = node_at(nodes, pod.ip);
    given += pod.gpus;
    counts += node ? node->amount("GPU") : 0;
    if (const std::string text = difference(pod, node); !text.empty()) differences.push_back(text);
  }
  Check check{.name = "gpus",
              .saw = fmt::format("Ray counts {}, Kubernetes gave {}", counted(counts, "GPU"),
                                 given == 0 ? "none" : fmt::format("{:g}", given))};
  if (pods.empty()) {
    check.saw = fmt::format("no pod among {} has the address of a node of this cluster", all_pods.size());
    check.state = CheckState::kFault;
    check.why = "what Ray counts cannot be compared with what Kubernetes gave";
    check.fix = "Name the namespace or context of the cluster's pods: --namespace, --context";
  } else if (!differences.empty()) {
    check.saw += fmt::format(": {}", fmt::join(differences, "; "));
    check.state = CheckState::kFault;
    check.why = "Ray places workers by its own count, and waits without end for a GPU that it does not count";
    check.fix =
        "Set num-gpus in the rayStartParams of the pod's group to the pod's limit, or take away what makes "
        "Ray find another accelerator there (a TPU_* variable of the image)";
  }
  return check;
}

}  // namespace lockstep::cluster
