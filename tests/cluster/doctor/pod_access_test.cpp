#include "lockstep/cluster/eks/pod_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "tests/cluster/doctor/doctor_world.h"

namespace lockstep::cluster::eks {
namespace {

using doctor::DoctorWorld;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PodAccess : public testing::Test {
 protected:
  DoctorWorld world_;
  Deployment deployment_ = assumed_deployment(DoctorWorld::settings());
  Kubernetes kubernetes_{world_, deployment_};
};

TEST_F(PodAccess, LogsAreOfTheRayContainerOrTheOperator) {
  EXPECT_THAT(logs_command(kubernetes_, deployment_, {.since = "10m", .follow = true}),
              ElementsAre("logs", "ray-train-cluster-head-8fhmp", "--namespace", "ray-train", "--container",
                          "ray-head", "--since", "10m", "--follow"));
  EXPECT_THAT(logs_command(kubernetes_, deployment_, {.who = "operator"}),
              ElementsAre("logs", "deployment/kuberay-operator", "--namespace", "kuberay-operator"));
}

TEST_F(PodAccess, WorkersAreCountedByTheirNames) {
  EXPECT_EQ(find_ray_pod(kubernetes_, deployment_, "worker-1").pod,
            "ray-train-cluster-gpu-workers-worker-ss76j");
  EXPECT_EQ(find_ray_pod(kubernetes_, deployment_, "ray-train-cluster-gpu-workers-worker-9x9qm").container,
            "ray-worker");
  EXPECT_THAT([&] { find_ray_pod(kubernetes_, deployment_, "worker-2"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("no pod worker-2 in RayCluster ray-train-cluster: there is "),
                        HasSubstr("worker-0 (ray-train-cluster-gpu-workers-worker-9x9qm)"))));
}

TEST_F(PodAccess, ACommandComesAfterAllOfKubectlsOptions) {
  EXPECT_THAT(
      exec_command(
          kubernetes_, deployment_,
          {.who = "worker-0", .command = {"nvidia-smi", "-L"}, .takes_input = true, .has_terminal = true}),
      ElementsAre("exec", "ray-train-cluster-gpu-workers-worker-9x9qm", "--namespace", "ray-train",
                  "--container", "ray-worker", "--stdin", "--tty", "--", "nvidia-smi", "-L"));
}

}  // namespace
}  // namespace lockstep::cluster::eks
