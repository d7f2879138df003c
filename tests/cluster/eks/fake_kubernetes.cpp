#include "tests/cluster/eks/fake_kubernetes.h"

#include <fmt/format.h>

#include "tests/cluster/eks/fake_words.h"

namespace lockstep::cluster::eks {
namespace {

const Json kReady = Json::array({{{"type", "Ready"}, {"status", "True"}}});

}  // namespace

CommandResult FakeKubernetes::helm(const Command& command) {
  const Words& argv = command.argv;
  if (begins(argv, {"helm", "version"})) return {.out = "v4.1.4+gabc\n"};
  if (begins(argv, {"helm", "show", "crds"})) return {.out = "kind: CustomResourceDefinition\n"};
  if (argv[3] == "kuberay-operator" && !objects.contains("CRD")) return {.exit_code = 1, .err = "no CRDs\n"};
  charts.insert(argv[3]);
  return {};
}

CommandResult FakeKubernetes::kubectl(const Command& command, int64_t num_gpu_nodes) {
  const Words& argv = command.argv;
  if (begins(argv, {"kubectl", "apply"})) return apply(command.input);
  if (begins(argv, {"kubectl", "delete"})) {
    if (argv[2].find("rayclusters") != std::string::npos) objects.erase("RayCluster");
    return {};
  }
  if (begins(argv, {"kubectl", "get", "customresourcedefinitions"}))
    return {.out = objects.contains("CRD") ? "customresourcedefinition/rayclusters.ray.io\n" : ""};
  if (begins(argv, {"kubectl", "get", "secret"}))
    return {.out = objects.contains("Secret") ? "secret/token\n" : ""};
  if (begins(argv, {"kubectl", "get", "services"})) return printed({{"items", Json::array()}});
  if (begins(argv, {"kubectl", "get", "nodes"})) return printed({{"items", nodes(num_gpu_nodes)}});
  if (begins(argv, {"kubectl", "get", "daemonsets"})) return printed({{"items", daemonsets(num_gpu_nodes)}});
  if (begins(argv, {"kubectl", "get", "pods"}))
    return printed({{"items", pods(option(argv, "--selector"), num_gpu_nodes)}});
  if (begins(argv, {"kubectl", "exec"})) {
    if (has(argv, "status"))
      return {.out = fmt::format("Resources\n 0.0/83.0 CPU\n 0.0/{}.0 GPU\n", ray_gpus)};
    return {.out = "13.0 4\n"};
  }
  return {.exit_code = 1, .err = fmt::format("the fake knows no {}\n", command_line(command))};
}

CommandResult FakeKubernetes::apply(const std::string& manifest) {
  if (manifest.find("kind: CustomResourceDefinition") != std::string::npos) objects.insert("CRD");
  for (const std::string kind : {"NetworkPolicy", "RayCluster", "Secret", "PersistentVolumeClaim"}) {
    if (manifest.find("kind: " + kind + "\n") != std::string::npos) objects.insert(kind);
  }
  return {};
}

Json FakeKubernetes::nodes(int64_t count) const {
  Json items = Json::array();
  const bool has_gpus = charts.contains("nvidia-device-plugin"),
             has_efa = charts.contains("aws-efa-k8s-device-plugin");
  for (int64_t i = 0; i < count; ++i)
    items.push_back(
        {{"metadata", {{"name", fmt::format("gpu-{}", i)}, {"labels", {{"nvidia.com/gpu.present", "true"}}}}},
         {"status",
          {{"allocatable",
            {{"nvidia.com/gpu", has_gpus ? "4" : "0"},
             {"vpc.amazonaws.com/efa", std::to_string(has_efa ? efa_per_node : 0)}}},
           {"conditions", kReady}}}});
  return items;
}

Json FakeKubernetes::daemonsets(int64_t num_nodes) const {
  Json items = Json::array();
  for (const std::string& chart : charts) {
    if (chart == "kuberay-operator") continue;
    items.push_back({{"metadata", {{"labels", {{"app.kubernetes.io/instance", chart}}}}},
                     {"status", {{"desiredNumberScheduled", num_nodes}, {"numberReady", num_nodes}}}});
  }
  return items;
}

Json FakeKubernetes::pods(const std::string& selector, int64_t num_workers) const {
  Json items = Json::array();
  const auto add = [&](const std::string& name) {
    const Json labels = {{"ray.io/cluster", "ray-train-cluster"},
                         {"ray.io/node-type", name == "head" ? "head" : "worker"}};
    items.push_back({{"metadata", {{"name", name}, {"labels", labels}}},
                     {"status", {{"phase", "Running"}, {"qosClass", qos}, {"conditions", kReady}}}});
  };
  if (!objects.contains("RayCluster")) return items;
  if (selector.find("node-type=worker") == selector.npos) add("head");
  if (selector.find("node-type=head") == selector.npos) {
    for (int64_t i = 0; i < num_workers; ++i) add(fmt::format("worker-{}", i));
  }
  return items;
}

}  // namespace lockstep::cluster::eks
