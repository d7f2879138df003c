#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/status/cluster_status.h"
#include "tests/cluster/doctor/doctor_world.h"

namespace lockstep::cluster::status {
namespace {

using doctor::DoctorWorld;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ClusterStatus look_at(DoctorWorld& world) { return look(world.surroundings(), DoctorWorld::settings()); }

TEST(ClusterStatus, IsOneScreenOfWhatThereIs) {
  DoctorWorld world;
  const ClusterStatus status = look_at(world);
  EXPECT_NO_THROW(require_healthy(status));
  EXPECT_THAT(
      status.to_text(),
      AllOf(HasSubstr("lockstep in us-east-2: ACTIVE, Kubernetes 1.36\n"),
            HasSubstr("node groups  gpu-workers 2 x ACTIVE, system 1 x ACTIVE\n"),
            HasSubstr("reservation  cr-001: 2 x g6.12xlarge in us-east-2c, active, 0 unused, until 2026-"),
            HasSubstr("price        9.5498 dollars an hour, by list prices\n"),
            HasSubstr("node         gpu-0: g6.12xlarge in us-east-1a, 4 GPUs, 1 EFA\n"),
            HasSubstr("part         nvidia-device-plugin v0.20.0: 2 of 2 ready\n"),
            HasSubstr("part         kuberay-operator v1.5.0: 1 of 1 ready\n"),
            HasSubstr("ray          ray-train-cluster: ready, 2 of 2 workers ready, 8 GPUs\n"),
            HasSubstr("pod          head    ray-train-cluster-head-8fhmp on system-0: Running\n"),
            HasSubstr("job          tune-1: RUNNING: sleep 60\nhealthy\n")));
  const Json json = status.to_json();
  EXPECT_EQ(json["healthy"], true);
  EXPECT_EQ(json["nodes"].size(), 3U);
  EXPECT_EQ(json["pods"].size(), 3U);
  EXPECT_EQ(json["jobs"][0]["id"], "tune-1");
  EXPECT_EQ(json["reservations"][0]["available"], 0);
}

TEST(ClusterStatus, SaysWhyAWorkerDoesNotRun) {
  DoctorWorld world;
  world.plant("kubectl get pods ray-train", [](Json& pods) {
    DoctorWorld::worker(pods)["status"] = {
        {"phase", "Pending"},
        {"conditions",
         Json::array({{{"type", "PodScheduled"},
                       {"status", "False"},
                       {"message", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}}})}};
  });
  const ClusterStatus status = look_at(world);
  EXPECT_THAT(status.to_text(),
              AllOf(HasSubstr("on gpu-"), HasSubstr("not healthy:\n  pod ray-train-cluster-gpu-"),
                    HasSubstr("is Pending: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu")));
  EXPECT_THAT([&] { require_healthy(status); },
              ThrowsMessage<CommandError>(HasSubstr("lockstep is not healthy: pod")));
}

// KubeRay says it by an event alone.
TEST(ClusterStatus, GivesTheOperatorsWordsForARayClusterThatDoesNotCome) {
  DoctorWorld world;
  world.plant("kubectl get rayclusters ray-train",
              [](Json& clusters) { clusters["items"][0]["status"] = Json::object(); });
  world.plant("kubectl get events ray-train", [](Json& events) {
    events["items"].push_back({{"type", "Warning"},
                               {"reason", "InvalidRayClusterSpec"},
                               {"involvedObject", {{"kind", "RayCluster"}, {"name", "ray-train-cluster"}}},
                               {"message", "headGroupSpec should have at least one container"}});
  });
  EXPECT_THAT(
      look_at(world).troubles,
      ElementsAre(
          "RayCluster ray-train-cluster is not ready: headGroupSpec should have at least one container"));
}

TEST(ClusterStatus, WhatCouldNotBeAskedIsSaidAndIsNotHealth) {
  DoctorWorld world;
  world.refuse("kubectl get rayjobs ray-train",
               "error: the server doesn't have a resource type \"rayjobs\"\n");
  const ClusterStatus status = look_at(world);
  EXPECT_FALSE(status.is_healthy());
  EXPECT_THAT(status.to_text(), HasSubstr("not known: RayJobs: kubectl get rayjobs"));
}

TEST(ClusterStatus, AReservationBillsWithoutACluster) {
  DoctorWorld world;
  auto kept = world.aws.reservations;
  kept.at(0).used = 0;
  world.aws = eks::FakeWorld();
  world.aws.reservations = kept;
  const ClusterStatus status = look_at(world);
  EXPECT_NEAR(status.price.dollars_per_hour(), 2 * 4.6016, 1e-9);
  EXPECT_THAT(status.to_text(),
              AllOf(HasSubstr("lockstep in us-east-2: there is no cluster\n"),
                    HasSubstr("2 unused, until 2026-"), HasSubstr("not healthy:\n  there is no cluster")));
}

}  // namespace
}  // namespace lockstep::cluster::status
