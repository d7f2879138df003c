// What `lockstep cluster plan` makes of its default settings, as Kubernetes, KubeRay and `lockstep image
// check` see it: a head and two workers with four GPUs and an EFA interface each, on one small node and two
// GPU nodes.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "kube_bed.h"
#include "lockstep/base/env_var.h"
#include "tests/cli/lockstep_program.h"
#include "tests/cluster/variable.h"
#include "tests/paths.h"

namespace lockstep::kube {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kNamespace = "ray-train";

// The files of a deployment, made by the command. What the operator of this bed does not know is left out.
void plan(const std::string& folder) {
  const auto planned = cli::lockstep(
      {"cluster", "plan", test_data("cluster/default.yaml"), "--no-preflight", "--out", folder,
       "charts.kuberay=1.5.0", "image.reference=registry.example/train/ray@sha256:" + std::string(64, 'a')});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
}

class RayClusterOnKubernetes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    KubeBed& bed = KubeBed::shared();
    if (bed.run({"get", "node", "gpu-0"}).exit_code == 0) return;
    bed.add_node("system-0", m7i_xlarge());
    bed.add_node("gpu-0", g6_12xlarge());
    bed.add_node("gpu-1", g6_12xlarge());
  }

  void SetUp() override {
    const TemporaryFolder folder;
    plan(folder.path());
    const auto apply = [&](const std::string& file) {
      bed_.kubectl({"apply", "--validate=strict", "-f", folder / file});
    };
    apply("namespace.yaml");
    bed_.add_namespace(kNamespace);
    apply("raycluster.yaml");
    wait_until_ready();
  }
  void TearDown() override {
    bed_.kubectl({"delete", "rayclusters", "--all", in_});
    bed_.wait_for("all pods to be gone", [&] { return pods().empty(); });
  }

  void wait_until_ready() {
    bed_.wait_for("a ready RayCluster with two workers", [&] {
      const Json clusters = bed_.get({"rayclusters", in_}).at("items");
      return clusters.size() == 1 &&
             clusters[0].value("status", Json::object()).value("state", "") == "ready" &&
             running("worker").size() == 2;
    });
  }
  Json pods() { return bed_.get({"pods", in_}).at("items"); }
  // Names of those that run and are not on their way out. `type`: "head" or "worker".
  std::set<std::string> running(const std::string& type) {
    std::set<std::string> names;
    for (const Json& pod : pods()) {
      if (pod.at("metadata").at("labels").value("ray.io/node-type", "") == type &&
          pod.at("status").value("phase", "") == "Running" &&
          !pod.at("metadata").contains("deletionTimestamp"))
        names.insert(pod.at("metadata").at("name").get<std::string>());
    }
    return names;
  }
  std::set<std::string> nodes_of(const std::string& type) {
    std::set<std::string> nodes;
    for (const Json& pod : pods()) {
      if (pod.at("metadata").at("labels").value("ray.io/node-type", "") == type)
        nodes.insert(pod.at("spec").value("nodeName", "nowhere"));
    }
    return nodes;
  }
  // What the scheduler says of a pod that it cannot place; empty while there is none.
  std::string why_pending() {
    for (const Json& pod : pods()) {
      for (const Json& condition : pod.at("status").value("conditions", Json::array())) {
        if (condition.at("type") == "PodScheduled" && condition.at("status") == "False")
          return condition.value("message", "");
      }
    }
    return "";
  }
  // A pod that asks for one of `resource` on a GPU node.
  void ask_for_one(const std::string& resource) {
    const Json pod = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", "one-more"}}},
        {"spec",
         {{"tolerations", {{{"operator", "Exists"}}}},
          {"containers",
           {{{"name", "c"}, {"image", "x"}, {"resources", {{"limits", {{resource, "1"}}}}}}}}}}};
    bed_.kubectl({"create", in_, "-f", "-"}, pod.dump());
  }
  void remove_it() { bed_.kubectl({"delete", "pod", "one-more", in_}); }

  KubeBed& bed_ = KubeBed::shared();
  const std::string in_ = std::string("--namespace=") + kNamespace;
};

class KubeCore : public RayClusterOnKubernetes {};

TEST_F(KubeCore, HeadAndWorkersAreWhereTheyShouldBe) {
  EXPECT_THAT(nodes_of("head"), UnorderedElementsAre("system-0"));
  EXPECT_THAT(nodes_of("worker"), UnorderedElementsAre("gpu-0", "gpu-1"));
  for (const Json& pod : pods())
    EXPECT_EQ(pod.at("status").at("qosClass"), "Guaranteed") << pod.at("metadata").at("name");
}

TEST_F(KubeCore, EveryGpuAndEfaInterfaceIsTaken) {
  for (const char* resource : {"nvidia.com/gpu", "vpc.amazonaws.com/efa"}) {
    ask_for_one(resource);
    bed_.wait_for("a pod that does not fit", [&] { return !why_pending().empty(); });
    EXPECT_THAT(why_pending(), AllOf(HasSubstr("0/3 nodes are available"),
                                     HasSubstr(std::string("3 Insufficient ") + resource)));
    remove_it();
    bed_.wait_for("that pod to be gone", [&] { return pods().size() == 3; });
  }
}

// RayClusters and eksctl's files: schemas_test.py.
TEST_F(KubeCore, KubernetesOwnKindsAreTakenByAStrictServer) {
  int num_files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test_data("cluster"))) {
    const std::string name = entry.path().filename();
    if (name != "namespace.yaml" && name != "storage.yaml") continue;
    const auto taken =
        bed_.run({"apply", "--dry-run=server", "--validate=strict", "-f", entry.path().string()});
    EXPECT_EQ(taken.exit_code, 0) << entry.path() << ": " << taken.err;
    ++num_files;
  }
  EXPECT_EQ(num_files, 6);
}

TEST_F(KubeCore, ADriftedImageIsFoundByItsPod) {
  const cluster::Variable kubeconfig("KUBECONFIG", bed_.kubeconfig().c_str());
  const cluster::Variable path("PATH",
                               (LOCKSTEP_KUBE_TOOLS ":" + env_var("PATH").value_or("/usr/bin:/bin")).c_str());
  const Json pod = bed_.get({"pods", in_, "--selector=ray.io/node-type=worker"}).at("items").at(0);
  const std::string name = pod.at("metadata").at("name");
  const TemporaryFolder folder;
  std::ofstream(folder / "lock.yaml")
      << "version: 1\nimage: " << pod.at("spec").at("containers").at(0).at("image").get<std::string>()
      << "\n";
  const std::vector<std::string> check = {"image", "check", folder / "lock.yaml", in_};
  const auto same = cli::lockstep(check);
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;

  const std::string other = "registry.example/train/ray@sha256:" + std::string(64, 'd');
  const Json patch = {{{"op", "replace"}, {"path", "/status/containerStatuses/0/imageID"}, {"value", other}}};
  bed_.kubectl({"patch", "pod", name, in_, "--subresource=status", "--type=json", "--patch=" + patch.dump()});
  const auto drifted = cli::lockstep(check);
  EXPECT_EQ(drifted.exit_code, 6);
  EXPECT_THAT(drifted.out, HasSubstr("other        " + name + "/ray-worker on gpu-"));
  EXPECT_THAT(drifted.err, HasSubstr("containers do not run the locked image"));
}

TEST_F(KubeCore, ACommandInAPodGivesItsOutputsAndExitCode) {
  bed_.add_program("ray",
                   "echo \"$1 in $POD_NAME/$CONTAINER of $POD_NAMESPACE\"; cat; echo trouble >&2; exit 3");
  const std::string head = *running("head").begin();
  const auto result =
      bed_.run({"exec", "-i", head, in_, "--container=ray-head", "--", "ray", "status"}, "input\n");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(result.out, "status in " + head + "/ray-head of " + kNamespace + "\ninput\n");
  EXPECT_THAT(result.err, HasSubstr("trouble"));
  EXPECT_EQ(bed_.run({"exec", head, in_, "--", "no-such-program"}).exit_code, 127);
}

TEST_F(KubeCore, DeletingLeavesNothing) {
  bed_.kubectl({"delete", "rayclusters", "--all", in_});
  bed_.wait_for("all to be gone", [&] {
    return bed_.get({"rayclusters,pods,services,secrets", in_}).at("items").empty();
  });
}

class RayClusterFaults : public RayClusterOnKubernetes {};

TEST_F(RayClusterFaults, AWorkerThatDoesNotFitSaysWhatIsMissing) {
  const Json patch = {{{"op", "replace"}, {"path", "/spec/workerGroupSpecs/0/maxReplicas"}, {"value", 3}},
                      {{"op", "replace"}, {"path", "/spec/workerGroupSpecs/0/replicas"}, {"value", 3}}};
  const std::string name = bed_.get({"rayclusters", in_}).at("items").at(0).at("metadata").at("name");
  bed_.kubectl({"patch", "raycluster", name, in_, "--type=json", "--patch=" + patch.dump()});
  bed_.wait_for("a third worker that waits", [&] { return !why_pending().empty(); });
  EXPECT_THAT(why_pending(), HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_EQ(running("worker").size(), 2);
}

TEST_F(RayClusterFaults, AKilledPodIsReplaced) {
  for (const char* type : {"worker", "head"}) {
    const std::set<std::string> before = running(type);
    bed_.kubectl({"delete", "pod", *before.begin(), in_, "--grace-period=0", "--force"});
    wait_until_ready();
    bed_.wait_for("another pod", [&] {
      const auto now = running(type);
      return now.size() == before.size() && now != before;
    });
  }
}

TEST_F(RayClusterFaults, AWorkerWhoseNodeIsGoneWaitsForAnother) {
  bed_.kubectl({"delete", "node", "gpu-1"});
  bed_.wait_for("a worker without a place",
                [&] { return running("worker").size() == 1 && !why_pending().empty(); });
  EXPECT_THAT(why_pending(), HasSubstr("0/2 nodes are available"));
  bed_.add_node("gpu-1", g6_12xlarge());
  wait_until_ready();
  EXPECT_THAT(nodes_of("worker"), UnorderedElementsAre("gpu-0", "gpu-1"));
}

}  // namespace
}  // namespace lockstep::kube
