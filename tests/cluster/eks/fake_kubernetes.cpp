#include "tests/cluster/eks/fake_kubernetes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

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
    if (argv[2].find("rayclusters") != std::string::npos) {
      objects.erase("RayCluster");
      ray_pods.clear();
    }
    for (RayPod& pod : ray_pods)
      pod.is_leaving = pod.is_leaving || (argv[2] == "pods" && has(argv, pod.name));
    return {};
  }
  if (begins(argv, {"kubectl", "get", "customresourcedefinitions"}))
    return {.out = objects.contains("CRD") ? "customresourcedefinition/rayclusters.ray.io\n" : ""};
  if (begins(argv, {"kubectl", "get", "secret"}))
    return {.out = objects.contains("Secret") ? "secret/token\n" : ""};
  if (begins(argv, {"kubectl", "get", "rayjobs"})) return printed({{"items", ray_jobs}});
  if (begins(argv, {"kubectl", "get", "services"})) return printed({{"items", Json::array()}});
  if (begins(argv, {"kubectl", "get", "nodes"})) return printed({{"items", nodes(num_gpu_nodes)}});
  if (begins(argv, {"kubectl", "get", "daemonsets"})) return printed({{"items", daemonsets(num_gpu_nodes)}});
  if (begins(argv, {"kubectl", "get", "pods"}))
    return printed({{"items", pods(option(argv, "--selector"), num_gpu_nodes)}});
  if (begins(argv, {"kubectl", "exec"})) {
    const bool is_there =
        std::any_of(ray_pods.begin(), ray_pods.end(), [&](const RayPod& pod) { return pod.name == argv[2]; });
    if (!is_there)
      return {.exit_code = 1,
              .err = fmt::format("Error from server (NotFound): pods \"{}\" not found\n", argv[2])};
    if (in_pod) {
      if (auto answer = in_pod(command, argv[2])) return std::move(*answer);
    }
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
  constexpr std::string_view kImage = "image: ";
  const size_t at = manifest.find(kImage);
  if (manifest.find("kind: RayCluster\n") != manifest.npos && at != manifest.npos)
    image = manifest.substr(at + kImage.size(), manifest.find('\n', at) - at - kImage.size());
  return {};
}

Json FakeKubernetes::nodes(int64_t count) const {
  Json items = Json::array();
  const bool has_gpus = charts.contains("nvidia-device-plugin"),
             has_efa = charts.contains("aws-efa-k8s-device-plugin");
  const Json labels = {{"nvidia.com/gpu.present", "true"}, {"topology.kubernetes.io/zone", "us-east-2c"}};
  for (int64_t i = 0; i < count; ++i)
    items.push_back({{"metadata", {{"name", fmt::format("gpu-{}", i)}, {"labels", labels}}},
                     {"spec", {{"providerID", fmt::format("aws:///us-east-2c/i-gpu-{}", i)}}},
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

void FakeKubernetes::reconcile(int64_t num_workers) {
  if (!objects.contains("RayCluster")) return;
  const auto add = [&](const std::string& role, int64_t wanted) {
    const auto count = std::count_if(ray_pods.begin(), ray_pods.end(),
                                     [&](const RayPod& pod) { return pod.name.starts_with(role); });
    for (int64_t i = count; i < wanted; ++i) {
      std::string name = role == "head" ? role : fmt::format("{}-{}", role, i);
      if (num_replaced_ > 0) name += fmt::format("-{}", ++num_replaced_);
      ray_pods.push_back({name, image});
    }
  };
  add("head", 1);
  add("worker", num_workers);
}

Json FakeKubernetes::pods(const std::string& selector, int64_t num_workers) {
  reconcile(num_workers);
  Json items = Json::array();
  for (const RayPod& pod : ray_pods) {
    if (selector.find(pod.is_head() ? "node-type=worker" : "node-type=head") != selector.npos) continue;
    const Json labels = {{"ray.io/cluster", "ray-train-cluster"},
                         {"ray.io/node-type", pod.is_head() ? "head" : "worker"}};
    const Json container = {{"name", pod.is_head() ? "ray-head" : "ray-worker"}, {"image", pod.image}};
    const Json status = {{"name", container.at("name")}, {"imageID", pod.image}};
    items.push_back({{"metadata", {{"name", pod.name}, {"labels", labels}}},
                     {"spec", {{"containers", Json::array({container})}}},
                     {"status",
                      {{"phase", "Running"},
                       {"qosClass", qos},
                       {"conditions", kReady},
                       {"containerStatuses", Json::array({status})}}}});
    if (pod.is_leaving) items.back()["metadata"]["deletionTimestamp"] = "2026-02-02T02:40:00Z";
  }
  // They are seen leaving once.
  if (std::erase_if(ray_pods, [](const RayPod& pod) { return pod.is_leaving; }) > 0 && num_replaced_ == 0)
    num_replaced_ = 1;
  return items;
}

}  // namespace lockstep::cluster::eks
