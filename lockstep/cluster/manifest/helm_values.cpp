#include "lockstep/cluster/manifest/helm_values.h"

#include <fmt/format.h>

namespace lockstep::cluster::manifest {
namespace {

// On the GPU nodes, in spite of their taint, and nowhere else: on a node without the devices the plugins
// restart for ever.
Json on_gpu_nodes() {
  return {{"nodeSelector", {{"nvidia.com/gpu.present", "true"}}},
          {"tolerations",
           Json::array({{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}})}};
}

HelmRelease release(const std::string& name, const std::string& repository, const std::string& version,
                    const std::string& namespace_name, const Json& values) {
  const std::string file = fmt::format("values-{}.yaml", name);
  const std::string about =
      fmt::format("helm upgrade --install {} {} --repo {} --version {} --namespace {} --values {}", name,
                  name, repository, version, namespace_name, file);
  return {name, name, repository, version, namespace_name, {file, about, {values}}};
}

}  // namespace

HelmRelease nvidia_plugin(const eks::Deployment& deployment) {
  return release("nvidia-device-plugin", "https://nvidia.github.io/k8s-device-plugin",
                 deployment.settings.charts.nvidia_plugin, "kube-system", on_gpu_nodes());
}

HelmRelease efa_plugin(const eks::Deployment& deployment) {
  return release("aws-efa-k8s-device-plugin", "https://aws.github.io/eks-charts",
                 deployment.settings.charts.efa_plugin, "kube-system", on_gpu_nodes());
}

HelmRelease kuberay_operator(const eks::Deployment& deployment) {
  Json values = Json::object();
  if (!deployment.settings.existing) values["nodeSelector"] = {{"role", "system"}};
  return release("kuberay-operator", "https://ray-project.github.io/kuberay-helm",
                 deployment.settings.charts.kuberay, eks::kOperatorNamespace, values);
}

}  // namespace lockstep::cluster::manifest
