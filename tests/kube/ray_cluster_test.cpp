// What `lockstep cluster plan` makes of its default settings, as Kubernetes, KubeRay and `lockstep image
// check` see it: a head and two workers with four GPUs and an EFA interface each, on one small node and two
// GPU nodes.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "lockstep/base/env_var.h"
#include "ray_cluster_fixture.h"
#include "tests/cluster/variable.h"

namespace lockstep::kube {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

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
