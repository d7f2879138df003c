// `lockstep cluster up` and `down`, with Kubernetes' part of the work done to a real control plane.
#include <gmock/gmock.h>

#include "eks_on_bed.h"
#include "lockstep/cluster/eks/down.h"
#include "lockstep/cluster/eks/kubernetes.h"
#include "lockstep/cluster/eks/readiness.h"
#include "lockstep/cluster/eks/up.h"

namespace lockstep::kube {
namespace {

using namespace cluster::eks;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNamespace = "--namespace=ray-train";

class KubeCoreUpDown : public testing::Test {
 protected:
  void SetUp() override {
    // Ray and Python of the image, as `up` uses them.
    bed_.add_program("ray", "echo ' 0.0/8.0 GPU'");
    bed_.add_program("python", "echo 13.0 4");
  }

  void bring_up() {
    Aws aws(eks_, settings_.region);
    up(look_before(aws, settings_, "2026-12-01"), eks_.surroundings());
  }
  Json items(const std::string& kinds) { return bed_.get({kinds, kNamespace}).at("items"); }

  const ClusterSettings settings_ = ClusterSettings::parse(
      "image: {reference: \"registry.example/train/ray@sha256:" + std::string(64, 'a') +
          "\"}\ncharts: {kuberay: \"1.5.0\"}\n",
      "cluster.yaml");
  KubeBed bed_;
  EksOnBed eks_{bed_};
};

TEST_F(KubeCoreUpDown, UpEndsWithAReadyRayClusterAndDownLeavesNothingOfIt) {
  bring_up();
  EXPECT_EQ(items("rayclusters").at(0).at("status").at("state"), "ready");
  EXPECT_EQ(items("pods").size(), 3);
  // Ray's token, which this operator does not make, and who may reach Ray.
  EXPECT_EQ(items("secrets").at(0).at("metadata").at("name"), "ray-train-cluster-token");
  EXPECT_EQ(items("networkpolicies").size(), 1);
  const std::string before = items("pods").dump();
  bring_up();
  EXPECT_EQ(items("pods").dump(), before) << "a second `up` starts nothing anew";

  EXPECT_THAT(down(settings_, eks_.surroundings()).found, IsEmpty());
  bed_.wait_for("Ray's pods and services to be gone",
                [&] { return items("rayclusters,pods,services,persistentvolumeclaims").empty(); });
  EXPECT_THAT(eks_.world.what_is_left(), IsEmpty());
}

TEST_F(KubeCoreUpDown, ReadinessSaysWhyAThirdWorkerDoesNotFit) {
  bring_up();
  const Json patch = {{{"op", "replace"}, {"path", "/spec/workerGroupSpecs/0/maxReplicas"}, {"value", 3}},
                      {{"op", "replace"}, {"path", "/spec/workerGroupSpecs/0/replicas"}, {"value", 3}}};
  bed_.kubectl(
      {"patch", "raycluster", "ray-train-cluster", kNamespace, "--type=json", "--patch=" + patch.dump()});
  const Deployment deployment = assumed_deployment(settings_);
  Kubernetes kubernetes(eks_, deployment);
  std::string said;
  bed_.wait_for("a third worker without a place", [&] {
    said = look_at_ray(kubernetes, deployment).to_text();
    return said.find("Insufficient") != std::string::npos;
  });
  EXPECT_THAT(said, AllOf(HasSubstr("pod ray-train-cluster-gpu-workers-worker-"),
                          HasSubstr("is Pending: 0/3 nodes are available"),
                          HasSubstr("Insufficient nvidia.com/gpu")));
}

}  // namespace
}  // namespace lockstep::kube
