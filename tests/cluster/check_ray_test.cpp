#include "lockstep/cluster/check_ray.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"

namespace lockstep::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

RayNode node(const std::string& ip, std::map<std::string, double> resources, bool is_alive = true) {
  return {.name = ip, .ip = ip, .is_alive = is_alive, .resources = std::move(resources)};
}

RayPod pod(const std::string& name, const std::string& machine, const std::string& ip, double gpus,
           const std::string& cluster = "ray") {
  return {.name = name, .node = machine, .ip = ip, .cluster = cluster, .gpus = gpus};
}

// As kubectl prints a pod, with what is read of it and some of what is not.
Json pod_json(const std::string& name, const std::string& machine, const std::string& ip,
              const std::string& phase = "Running") {
  const Json worker = {{"name", "ray-worker"},
                       {"resources",
                        {{"limits", {{"cpu", "40"}, {"memory", "160Gi"}, {"nvidia.com/gpu", "1"}}},
                         {"requests", {{"nvidia.com/gpu", "1"}}}}}};
  const Json sidecar = {{"name", "fluent-bit"}, {"resources", Json::object()}};
  return {{"metadata", {{"name", name}, {"labels", {{"ray.io/cluster", "ray"}}}}},
          {"spec", {{"nodeName", machine}, {"containers", {worker, sidecar}}}},
          {"status", {{"phase", phase}, {"podIP", ip}}}};
}

const std::vector<RayPod> kTwoPods = {pod("head", "gpu-a", "10.0.0.1", 1),
                                      pod("worker-1", "gpu-b", "10.0.0.2", 1)};

TEST(CheckGpuCounts, AreGoodWhereRayCountsWhatThePodsWereGiven) {
  const Check check =
      check_gpu_counts({node("10.0.0.1", {{"GPU", 1}}), node("10.0.0.2", {{"GPU", 1}})}, kTwoPods);
  EXPECT_EQ(check.state, CheckState::kGood);
  EXPECT_EQ(check.saw, "Ray counts 2 GPUs, Kubernetes gave 2");
}

// gpustack/gpustack#5509: one of two GPUs was announced as a TPU, and placement waited for ever.
TEST(CheckGpuCounts, NameTheMachineWhoseGpuRayTookForSomethingElse) {
  const Check check = check_gpu_counts(
      {node("10.0.0.1", {{"GPU", 1}}), node("10.0.0.2", {{"CPU", 17}, {"TPU", 1}})}, kTwoPods);
  EXPECT_EQ(check.state, CheckState::kFault);
  EXPECT_EQ(check.saw,
            "Ray counts 1 GPU, Kubernetes gave 2: gpu-b (pod worker-1) was given 1 GPU, and Ray has no GPU "
            "but 1 TPU there");
  EXPECT_THAT([&] { require_no_fault({check}, "doctor"); },
              ThrowsMessage<ConfigError>(HasSubstr("Set num-gpus")));
}

TEST(CheckGpuCounts, NameAPodThatIsNoLivingNodeToRay) {
  const Check check = check_gpu_counts(
      {node("10.0.0.1", {{"GPU", 1}}), node("10.0.0.2", {{"GPU", 1}}, /*is_alive=*/false)}, kTwoPods);
  EXPECT_THAT(check.saw, HasSubstr("gpu-b (pod worker-1) was given 1 GPU, and Ray has no node at 10.0.0.2"));
}

TEST(CheckGpuCounts, LeaveThePodsOfOtherClustersAlone) {
  std::vector<RayPod> pods = kTwoPods;
  pods.push_back(pod("other-head", "gpu-c", "10.0.0.3", 4, "other"));
  const std::vector<RayNode> nodes = {node("10.0.0.1", {{"GPU", 1}}), node("10.0.0.2", {{"GPU", 1}})};
  EXPECT_EQ(check_gpu_counts(nodes, pods).state, CheckState::kGood);
  const Check none = check_gpu_counts({node("10.9.9.9", {{"GPU", 1}})}, pods);
  EXPECT_EQ(none.state, CheckState::kFault);
  EXPECT_THAT(none.saw, HasSubstr("no pod among 3"));
}

TEST(CheckRayNodes, DeadOnesAreANote) {
  const Check check = check_ray_nodes({node("10.0.0.1", {}), node("10.0.0.2", {}, /*is_alive=*/false)});
  EXPECT_EQ(check.state, CheckState::kNote);
  EXPECT_EQ(check.saw, "1 live, 1 dead: 10.0.0.2");
}

TEST(RayPods, AreReadFromWhatKubectlPrints) {
  Json other = pod_json("web", "cpu-a", "10.0.0.9");
  other["metadata"].erase("labels");
  const Json list = {{"kind", "List"},
                     {"items",
                      {pod_json("worker-1", "gpu-b", "10.0.0.2"),
                       pod_json("worker-2", "gpu-c", "10.0.0.3", "Succeeded"), other}}};
  const auto pods = ray_pods_from(list.dump());
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].label(), "gpu-b (pod worker-1)");
  EXPECT_EQ(pods[0].gpus, 1);
  EXPECT_EQ(pods[0].cluster, "ray");
  EXPECT_THAT([] { ray_pods_from("No resources found"); },
              ThrowsMessage<CommandError>(HasSubstr("no list of pods")));
}

struct Recorder : CommandRunner {
  CommandResult run(const Command& command) override {
    argv = command.argv;
    return {.exit_code = exit_code, .out = R"({"items": []})", .err = "Unable to connect to the server"};
  }
  std::vector<std::string> argv;
  int exit_code = 0;
};

TEST(RayPods, AreAskedOfKubectlInTheNamespaceThatWasNamed) {
  Recorder kubectl;
  list_ray_pods(kubectl, "", "");
  EXPECT_THAT(kubectl.argv,
              ElementsAre("kubectl", "get", "pods", "--selector", "ray.io/cluster", "--output", "json"));
  list_ray_pods(kubectl, "prod", "training");
  EXPECT_THAT(kubectl.argv, ElementsAre("kubectl", "get", "pods", "--selector", "ray.io/cluster", "--output",
                                        "json", "--context", "prod", "--namespace", "training"));
  kubectl.exit_code = 1;
  EXPECT_THAT(
      [&] { list_ray_pods(kubectl, "", ""); },
      ThrowsMessage<CommandError>(AllOf(HasSubstr("kubectl get pods"), HasSubstr("Unable to connect"))));
}

}  // namespace
}  // namespace lockstep::cluster
