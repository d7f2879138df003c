#include "lockstep/cluster/worker_room.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/cluster/shared_paths.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

RayNode node(const std::string& name, std::map<std::string, double> resources, bool is_head = false,
             bool is_alive = true) {
  return {
      .name = name, .ip = name, .is_head = is_head, .is_alive = is_alive, .resources = std::move(resources)};
}

const WorkerDemand kTwoGpus = {.num_workers = 2, .each = {{"CPU", 1}, {"GPU", 1}}};

TEST(WorkerRoom, WorkersThatFitAreLeftAlone) {
  const std::vector<RayNode> nodes = {node("head", {}, true), node("a", {{"CPU", 8}, {"GPU", 1}}),
                                      node("b", {{"CPU", 8}, {"GPU", 1}})};
  EXPECT_NO_THROW(require_room(nodes, kTwoGpus));
  EXPECT_EQ(num_gpus(nodes), 2);
}

// gpustack/gpustack#5509: one of two GPUs was announced as a TPU, and placement waited for ever.
TEST(WorkerRoom, AGpuThatIsAnnouncedAsAnotherAcceleratorIsNamedWithItsNode) {
  const std::vector<RayNode> nodes = {node("gpu-a", {{"CPU", 17}, {"GPU", 1}}, true),
                                      node("gpu-b", {{"CPU", 17}, {"TPU", 1}})};
  EXPECT_THAT(
      [&] { require_room(nodes, kTwoGpus); },
      ThrowsMessage<ConfigError>("ray: Ray counts 1 GPU, 2 wanted (scaling.num_workers 2, each 1 CPU and 1 "
                                 "GPU): gpu-a, the head, 1 GPU; gpu-b no GPU but 1 TPU. Add nodes that have "
                                 "it, or tell Ray of what is there (ray start --num-gpus), or set "
                                 "scaling.num_workers=1"));
}

TEST(WorkerRoom, DeadNodesAreNamedAndNotCounted) {
  const std::vector<RayNode> nodes = {node("a", {{"CPU", 1}, {"GPU", 1}}),
                                      node("b", {{"CPU", 1}, {"GPU", 1}}, false, false)};
  EXPECT_THAT([&] { require_room(nodes, kTwoGpus); },
              ThrowsMessage<ConfigError>(HasSubstr("a 1 GPU; dead: b.")));
  EXPECT_EQ(num_gpus(nodes), 1);
}

TEST(WorkerRoom, WhatAWorkerTakesMustBeOnOneNode) {
  const std::vector<RayNode> nodes = {node("a", {{"CPU", 3}}), node("b", {{"CPU", 3}})};
  EXPECT_THAT(
      [&] {
        require_room(nodes, {.num_workers = 3, .each = {{"CPU", 2}}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("there is room for 2, 3 wanted")));
}

TEST(WorkerRoom, WithoutAnyGpuTheWayOutIsTheCpu) {
  EXPECT_THAT(
      [&] {
        require_room({node("a", {{"CPU", 4}})}, kTwoGpus);
      },
      ThrowsMessage<ConfigError>(HasSubstr("Ray counts no GPU, 2 wanted")));
  EXPECT_THAT(
      [&] {
        require_room({node("a", {{"CPU", 4}})}, kTwoGpus);
      },
      ThrowsMessage<ConfigError>(HasSubstr("scaling.use_gpu=false")));
}

TEST(SharedPaths, OnesThatEachNodeWouldTakeForAnotherFileAreRefused) {
  Recipe recipe;
  recipe.run.dir = "/fsx/runs/x";
  recipe.data.sources = {{.path = "s3://bucket/data.jsonl"}};
  recipe.data.held_out = "0.05";
  EXPECT_NO_THROW(require_absolute_paths(recipe));
  recipe.data.held_out = "held_out.jsonl";
  EXPECT_THAT([&] { require_absolute_paths(recipe); },
              ThrowsMessage<ConfigError>(HasSubstr("data.held_out:")));
  recipe.run.dir = "runs/x";
  EXPECT_THAT([&] { require_absolute_paths(recipe); },
              ThrowsMessage<ConfigError>(HasSubstr("run.dir: \"runs/x\" is relative")));
}

}  // namespace
}  // namespace lockstep::cluster
