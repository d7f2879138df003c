// Where the gradients of a sharded module's parameters are written (nn/gradient_home.h).
#include "lockstep/nn/gradient_home.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/nn/layers.h"
#include "tests/fsdp/awkward_net.h"

namespace lockstep::fsdp {
namespace {

using testing::AwkwardNet;

// Who writes a gradient to the same address in every step, as CUDA graphs do.
TEST(GradientHome, AGradientsHomeStaysOnceItIsLentToStay) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    FsdpOptions options;
    options.compute = options.grad.emplace(at::kBFloat16);
    auto model = fully_shard(AwkwardNet(at::kFloat), mesh, options);
    const at::Tensor& weight = model->blocks[0]->up;
    model(at::arange(4));
    at::Tensor home;
    const void* given = nullptr;
    {
      const nn::LastingHomes homes;
      home = nn::new_gradient(weight);
      given = homes.given(weight);
    }
    EXPECT_EQ(given, home.const_data_ptr());
    EXPECT_FALSE(nn::lend_again(weight, given)) << "its gradient has not arrived";
    model(at::arange(4)).backward();
    std::vector<at::Tensor> others;  // take the memory that a step has freed
    for (int step = 0; step < 3; ++step) {
      for (const auto& shard : model.parameters()) shard.mutable_grad() = at::Tensor();
      for (const auto& shard : model.parameters()) others.push_back(at::empty_like(shard, at::kBFloat16));
      EXPECT_TRUE(nn::lend_again(weight, given));
      EXPECT_FALSE(nn::lend_again(weight, given)) << "lent already";
      model(at::arange(4)).backward();
    }
  });
}

// One gradient may be added to another where that lies; of a third autograd makes a sum elsewhere.
TEST(GradientHome, AGradientThatWasAddedToIsNotLost) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(at::kFloat), mesh, FsdpOptions());
    const at::Tensor& weight = model->blocks[0]->up;
    model(at::arange(4));
    EXPECT_FALSE(nn::begun_gradient(weight).defined()) << "none has begun";
    const at::Tensor home = nn::new_gradient(weight), begun = nn::begun_gradient(weight);
    EXPECT_EQ(begun.const_data_ptr(), home.const_data_ptr());
    EXPECT_FALSE(nn::begun_gradient(weight).defined()) << "a third";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // torch has threads, which a fork would lack
    EXPECT_DEATH(model(at::arange(4)).backward(), "block0.up: more than two gradients in one backward");
  });
}

TEST(GradientHome, NoHomeStaysWhereMicroBatchesOrRanksAddUp) {
  for (const int ranks : {1, 2}) {
    comm::run_mesh(ranks, ranks, [](comm::Mesh& mesh) {
      auto model = fully_shard(AwkwardNet(at::kFloat), mesh, FsdpOptions());
      model(at::arange(4));
      const nn::LastingHomes homes;
      nn::new_gradient(model->blocks[0]->up);
      EXPECT_EQ(homes.given(model->blocks[0]->up), nullptr);
    });
  }
}

// As the layers of nn do it: straight into the place where the unit's gradients are collected. Used twice,
// the second gradient must not end up on the first.
TEST(GradientHome, GradientsWrittenInPlaceAddUpWhenALayerIsUsedTwice) {
  struct TwiceImpl : nn::Module {
    TwiceImpl() {
      first = register_module("first", nn::Linear(3, 3, false, at::TensorOptions(at::kDouble)));
      second = register_module("second", nn::Linear(3, 3, false, at::TensorOptions(at::kDouble)));
      const at::NoGradGuard no_grad;
      for (auto& p : parameters()) p.copy_(at::arange(9, at::kDouble).view({3, 3}) / 9);
    }
    at::Tensor forward(const at::Tensor& x) { return first(second(first(x)).tanh()); }
    nn::Linear first{nullptr}, second{nullptr};
  };
  LOCKSTEP_MODULE(Twice);
  const auto x = at::ones({2, 3}, at::kDouble);
  Twice alone;
  alone(x).sum().backward();
  for (const int num_ranks : {1, 2}) {
    comm::run_mesh(num_ranks, num_ranks, [&](comm::Mesh& mesh) {
      FsdpOptions options;
      options.compute = options.master = options.reduce = at::kDouble;
      auto model = fully_shard(Twice(), mesh, options);
      for (int micro_batch = 0; micro_batch < 2; ++micro_batch) (model(x).sum() / num_ranks).backward();
      for (const auto& named : alone->named_parameters())
        EXPECT_TRUE(at::allclose(model.state().full_gradient(named.key()), 2 * named.value().grad()))
            << named.key() << " on " << num_ranks;
    });
  }
}

}  // namespace
}  // namespace lockstep::fsdp
