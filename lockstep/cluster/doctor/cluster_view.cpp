#include "lockstep/cluster/doctor/cluster_view.h"

#include "lockstep/cluster/eks/kubernetes_object.h"

namespace lockstep::cluster::doctor {
namespace {

using eks::list_daemonsets;
using eks::list_nodes;
using eks::list_pods;
using eks::list_ray_clusters;

}  // namespace

ClusterView look_at_cluster(eks::Kubernetes& kubernetes, const eks::Deployment& deployment) {
  const std::string& space = deployment.settings.namespace_name;
  const auto list = [&](const char* kind) {
    return ask([&] { return kubernetes.get({kind, "--namespace", space}); });
  };
  const auto log_of = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "logs");
    words.insert(words.end(), {"--tail", "200"});
    return ask([&] { return kubernetes.kubectl(words); });
  };
  ClusterView view;
  view.nodes = ask([&] { return list_nodes(kubernetes); });
  view.daemonsets = ask([&] { return list_daemonsets(kubernetes); });
  view.system_pods = ask([&] { return list_pods(kubernetes, "kube-system"); });
  view.pods = ask([&] { return list_pods(kubernetes, space); });
  view.events = ask([&] { return list_events(kubernetes, space); });
  view.ray_clusters = ask([&] { return list_ray_clusters(kubernetes, space); });
  view.ray_jobs = ask([&] { return list_ray_jobs(kubernetes, space); });
  view.jobs = list("jobs");
  view.volume_claims = list("persistentvolumeclaims");
  view.ray_definition = ask([&] {
    return kubernetes.get({"customresourcedefinitions", "rayclusters.ray.io"});
  });
  view.operators = ask([&] { return list_operators(kubernetes); });
  view.gpu_plugin_log =
      log_of({"--namespace", "kube-system", "--selector", "app.kubernetes.io/instance=nvidia-device-plugin"});
  view.operator_log = log_of({"--namespace", eks::kOperatorNamespace, "deployment/kuberay-operator"});
  return view;
}

}  // namespace lockstep::cluster::doctor
