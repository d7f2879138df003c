#include "lockstep/cluster/eks/ray_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/kubernetes_object.h"
#include "lockstep/cluster/eks/readiness.h"
#include "lockstep/cluster/eks/wait_until_ready.h"
#include "lockstep/cluster/manifest/ray_cluster.h"

namespace lockstep::cluster::eks {
namespace {

Step apply_ray_cluster(Kubernetes& kubernetes, const Deployment& deployment) {
  return apply(manifest::ray_cluster(deployment), deployment.settings.image.reference,
               kubernetes.kubeconfig());
}

struct FormerPods {
  std::vector<std::string> staying, leaving;
  bool empty() const { return staying.empty() && leaving.empty(); }
};

FormerPods pods_of_another_image(Kubernetes& kubernetes, const Deployment& deployment) {
  const ClusterSettings& settings = deployment.settings;
  const Json pods = list_pods(kubernetes, settings.namespace_name, "ray.io/cluster=" + settings.ray_cluster);
  FormerPods former;
  for (const Json& pod : part_of(pods, "items")) {
    const Json& containers = part_of(part_of(pod, "spec"), "containers");
    const bool is_of_it =
        !containers.empty() && text_of(containers.front(), "image") == settings.image.reference;
    if (is_of_it) continue;
    (is_leaving(pod) ? former.leaving : former.staying).push_back(name_of(pod));
  }
  return former;
}

std::vector<std::string> removal_of(const std::vector<std::string>& pods, const ClusterSettings& settings) {
  std::vector<std::string> words = {"delete", "pods"};
  words.insert(words.end(), pods.begin(), pods.end());
  words.insert(words.end(), {"--namespace", settings.namespace_name, "--ignore-not-found", "--wait=false"});
  return words;
}

// The operator may have made one of the former image once more, from a RayCluster that it had not yet read
// anew.
Readiness replace_and_look(Kubernetes& kubernetes, const Deployment& deployment) {
  const FormerPods former = pods_of_another_image(kubernetes, deployment);
  if (former.empty()) return look_at_ray(kubernetes, deployment);
  if (!former.staying.empty()) kubernetes.kubectl(removal_of(former.staying, deployment.settings));
  return {.missing = {fmt::format("{} pods of the former image are on their way out",
                                  former.staying.size() + former.leaving.size())}};
}

}  // namespace

void set_ray_image(Kubernetes& kubernetes, const Deployment& deployment, const Surroundings& surroundings,
                   const std::string& way_on) {
  surroundings.say(fmt::format("RayCluster {} to {}; its pods are replaced", deployment.settings.ray_cluster,
                               deployment.settings.image.reference));
  kubernetes.run(apply_ray_cluster(kubernetes, deployment));
  wait_until_ready(
      surroundings, "Ray", kRayLimit, [&] { return replace_and_look(kubernetes, deployment); }, way_on);
  check_cuda(kubernetes, deployment);
}

std::vector<std::string> ray_image_commands(Kubernetes& kubernetes, const Deployment& deployment) {
  const FormerPods former = pods_of_another_image(kubernetes, deployment);
  std::vector<std::string> commands = {apply_ray_cluster(kubernetes, deployment).to_text()};
  if (former.staying.empty()) return commands;
  Command removal{.argv = removal_of(former.staying, deployment.settings)};
  removal.argv.insert(removal.argv.begin(), "kubectl");
  commands.push_back(command_line(removal));
  return commands;
}

}  // namespace lockstep::cluster::eks
