#include "lockstep/cluster/manifest/network_policy.h"

namespace lockstep::cluster::manifest {

ManifestFile network_policy(const eks::Deployment& deployment) {
  const eks::ClusterSettings& settings = deployment.settings;
  const Json ray_pods = {{"matchLabels", {{"ray.io/cluster", settings.ray_cluster}}}};
  const Json from_ray = {{"from", Json::array({{{"podSelector", ray_pods}}})}};
  const Json operator_namespace = {
      {"matchLabels", {{"kubernetes.io/metadata.name", eks::kOperatorNamespace}}}};
  const Json from_operator = {{"from", Json::array({{{"namespaceSelector", operator_namespace}}})},
                              {"ports", Json::array({{{"protocol", "TCP"}, {"port", 8265}}})}};
  const Json policy = {{"apiVersion", "networking.k8s.io/v1"},
                       {"kind", "NetworkPolicy"},
                       {"metadata", {{"name", settings.ray_cluster}, {"namespace", settings.namespace_name}}},
                       {"spec",
                        {{"podSelector", ray_pods},
                         {"policyTypes", Json::array({"Ingress"})},
                         {"ingress", Json::array({from_ray, from_operator})}}}};
  const Json space = {
      {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", settings.namespace_name}}}};
  return {"namespace.yaml",
          "Where Ray is, and who may reach it: kubectl apply -f namespace.yaml",
          {space, policy}};
}

}  // namespace lockstep::cluster::manifest
