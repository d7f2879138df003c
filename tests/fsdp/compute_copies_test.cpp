// The shards in bfloat16, which the optimizer writes beside the float32 ones.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/optim/adamw.h"
#include "tests/fsdp/awkward_net.h"

namespace lockstep::fsdp {
namespace {

using testing::AwkwardNet;

Sharded<AwkwardNet> after_a_backward(comm::Mesh& mesh) {
  FsdpOptions options;
  options.compute = at::kBFloat16;
  auto model = fully_shard(AwkwardNet(at::kFloat), mesh, options);
  model(at::arange(4)).backward();
  return model;
}

TEST(ComputeCopies, ACopyThatTheOptimizerWroteIsNotMadeAgain) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    auto model = after_a_backward(mesh);
    optim::AdamW optimizer(model.parameters(), {.lr = 0.1});
    optimizer.step(1, model.state().compute_copies());
    model.state().copies_written();
    const at::Tensor written = model->blocks[0]->up.detach().clone();
    EXPECT_TRUE(at::equal(written.to(at::kFloat),
                          model.state().full_parameter("block0.up").to(at::kBFloat16).to(at::kFloat)));
    model(at::arange(4));  // and a change from elsewhere is seen
    EXPECT_TRUE(at::equal(model->blocks[0]->up, written));
    for (auto shard : model.parameters()) {
      const at::NoGradGuard no_grad;
      shard.add_(1);
    }
    // Without gradients the optimizer writes nothing, whatever is said.
    optimizer.zero_grad();
    optimizer.step(1, model.state().compute_copies());
    model.state().copies_written();
    model(at::arange(4));
    EXPECT_FALSE(at::equal(model->blocks[0]->up, written));
  });
}

TEST(ComputeCopies, WhatTheOptimizerWroteIsSentAsItIs) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    auto model = after_a_backward(mesh);
    const auto loss = [&] {
      const at::NoGradGuard no_grad;
      return model(at::arange(4)).item<float>();
    };
    const float right = loss();
    for (const auto& copy : model.state().compute_copies()) copy.zero_();
    model.state().copies_written();
    EXPECT_NE(loss(), right);
    for (auto shard : model.parameters()) {
      const at::NoGradGuard no_grad;
      shard.add_(0);
    }
    EXPECT_EQ(loss(), right);
  });
}

}  // namespace
}  // namespace lockstep::fsdp
