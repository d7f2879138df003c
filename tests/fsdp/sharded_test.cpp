#include "lockstep/fsdp/sharded.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/run_ranks.h"
#include "lockstep/kernels/side_by_side.h"
#include "lockstep/nn/layers.h"
#include "lockstep/nn/shared_input.h"
#include "lockstep/optim/adamw.h"
#include "tests/fsdp/awkward_net.h"

namespace lockstep::fsdp {
namespace {

using testing::AwkwardNet;
using testing::Block;

FsdpOptions in_float64(Strategy strategy = Strategy::kFull) {
  FsdpOptions options;
  options.strategy = strategy;
  options.wrap = wrap_by_type({"Block"});
  options.compute = options.master = options.reduce = at::kDouble;
  return options;
}

TEST(Sharded, ListsItsUnitsWithTheTiedWeightInTheRoot) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64());
    const auto units = model.state().units();
    ASSERT_EQ(units.size(), 4);
    EXPECT_EQ(units[0].name, "(root)");
    EXPECT_EQ(units[0].numel, 55);
    EXPECT_EQ(units[2].name, "block1");
    EXPECT_EQ(units[2].type, "Block");
    EXPECT_EQ(units[2].numel, 7 * 5 + 7 + 5 * 7 + 5 + 3);
    EXPECT_EQ(units[2].frozen_numel, 5);
  });
}

// Two layers of one input, as a decoder has them.
struct TwoLayersImpl : nn::Module {
  TwoLayersImpl() : Module("TwoLayers") {
    const auto options = at::TensorOptions(at::kDouble);
    norm = register_module("norm", nn::RMSNorm(4, 1e-6, options));
    first = register_module("first", nn::Linear(4, 6, true, options));
    second = register_module("second", nn::Linear(4, 2, true, options));
    const at::NoGradGuard no_grad;
    for (auto& parameter : parameters()) parameter.fill_(1);
  }
  std::vector<at::Tensor> forward(const at::Tensor& x) { return nn::linear_each(norm(x), {first, second}); }
  nn::Linear first{nullptr}, second{nullptr};
  nn::RMSNorm norm{nullptr};
};
LOCKSTEP_MODULE(TwoLayers);

TEST(Sharded, LayersOfOneInputAreComputedAsOneUnlessElastic) {
  for (const bool elastic : {false, true}) {
    for (const int world_size : {1, 2}) {
      comm::run_mesh(world_size, world_size, [&](comm::Mesh& mesh) {
        auto options = in_float64();
        options.wrap = wrap_by_type({"TwoLayers"});
        options.elastic = elastic;
        auto model = fully_shard(TwoLayers(), mesh, options);
        const auto outputs = model(at::ones({3, 4}, at::kDouble));
        EXPECT_EQ(kernels::joined_columns(outputs).has_value(), !elastic);
        (outputs[0].sum() + 2 * outputs[1].sum()).backward();
        // Each rank's rows are the same three.
        EXPECT_DOUBLE_EQ(model.state().full_gradient("first.bias").sum().item<double>(), 6 * 3 * world_size);
        EXPECT_DOUBLE_EQ(model.state().full_gradient("second.bias").sum().item<double>(),
                         2 * 2 * 3 * world_size);
      });
    }
  }
}

TEST(Sharded, PassingTheHooksThrowsInsteadOfReadingFreedMemory) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64());
    EXPECT_ANY_THROW(model->blocks[0]->forward(at::ones({2, 5}, at::kDouble)));
    model(at::arange(4));  // and the model still works
  });
}

TEST(Sharded, ForwardWithoutGradientsLeavesNothingGathered) {
  for (const auto strategy : {Strategy::kFull, Strategy::kGradOp}) {
    comm::run_mesh(2, 2, [&](comm::Mesh& mesh) {
      auto options = in_float64(strategy);
      options.prefetch_units = 1;
      auto model = fully_shard(AwkwardNet(), mesh, options);
      const at::NoGradGuard no_grad;
      model(at::arange(4));
      EXPECT_ANY_THROW(model->blocks[2]->up.sum());
      EXPECT_ANY_THROW(model->embedding.sum());
    });
  }
}

TEST(Sharded, KeptUnitsAreGatheredOnceForManyForwards) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64());
    const at::NoGradGuard no_grad;
    model.state().keep_gathered(true);
    model(at::arange(4));
    const int64_t after_one = mesh.shard_gather().bytes_sent();
    model(at::arange(4));
    EXPECT_EQ(mesh.shard_gather().bytes_sent(), after_one);
    model.state().keep_gathered(false);
    EXPECT_ANY_THROW(model->embedding.sum());
  });
}

TEST(Sharded, EvaluationBetweenStepsSeesTheNewWeights) {
  for (const auto strategy : {Strategy::kFull, Strategy::kGradOp}) {
    comm::run_mesh(2, 2, [&](comm::Mesh& mesh) {
      auto model = fully_shard(AwkwardNet(), mesh, in_float64(strategy));
      // With gradients and no backward: kept copies must not outlive a change of the weights.
      const double before = model(at::arange(4)).item<double>();
      const at::NoGradGuard no_grad;
      for (const auto& shard : model.parameters()) shard.detach().mul_(0.5);
      EXPECT_NE(model(at::arange(4)).item<double>(), before);
    });
  }
}

TEST(Sharded, SendsTheBytesOfTheFormula) {
  // Sum over units of padded P * (gathers + reductions) * 8 bytes * (W-1)/W: blocks are
  // gathered twice, the last block and the root once; frozen parameters are not reduced. Blocks that are
  // computed again are gathered for that, and not once more for their gradients.
  for (const auto [keep, recompute] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    comm::run_mesh(3, 3, [&, keep = keep, recompute = recompute](comm::Mesh& mesh) {
      auto model = fully_shard(AwkwardNet(), mesh, in_float64(keep ? Strategy::kGradOp : Strategy::kFull));
      model->recompute = recompute;
      const int64_t before = mesh.shard_gather().bytes_sent() + mesh.shard_reduce().bytes_sent();
      model(at::arange(4)).backward();
      const int64_t sent = mesh.shard_gather().bytes_sent() + mesh.shard_reduce().bytes_sent() - before;
      const int64_t root_shard = 19, block_shard = 27, frozen_shard = 2;  // ceil(55/3), ceil(80/3), ceil(5/3)
      const int64_t block_gathers = keep ? 3 : 2 + 2 + 1;
      EXPECT_EQ(sent,
                2 * 8 * (root_shard * 2 + block_shard * (block_gathers + 3) + frozen_shard * block_gathers));
    });
  }
}

TEST(Sharded, ComputingBlocksAgainChangesNoGradient) {
  for (const auto strategy : {Strategy::kFull, Strategy::kGradOp}) {
    for (const int ranks : {1, 3}) {
      comm::run_mesh(ranks, ranks, [&](comm::Mesh& mesh) {
        auto options = in_float64(strategy);
        options.prefetch_units = options.reductions_in_flight = 1;
        auto direct = fully_shard(AwkwardNet(), mesh, options),
             again = fully_shard(AwkwardNet(), mesh, options);
        again->recompute = true;
        for (auto* model : {&direct, &again}) {
          for (const bool last : {false, true}) {  // micro-batches
            model->state().set_last_micro_batch(last);
            (*model)(at::arange(4)).backward();
          }
        }
        for (const char* name : {"embedding", "block0.up", "block1.bias", "block2.down", "block2.unused"})
          EXPECT_TRUE(at::equal(direct.state().full_gradient(name), again.state().full_gradient(name)))
              << name;
      });
    }
  }
}

TEST(Sharded, GradOpGathersOnceForAllMicroBatchesOfAStep) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64(Strategy::kGradOp));
    model.state().set_last_micro_batch(false);
    model(at::arange(4)).backward();
    const int64_t after_one = mesh.shard_gather().bytes_sent();
    model(at::arange(4)).backward();
    model.state().set_last_micro_batch(true);
    model(at::arange(4)).backward();
    EXPECT_EQ(mesh.shard_gather().bytes_sent(), after_one);
    EXPECT_ANY_THROW(model->embedding.sum()) << "freed once the step is done";
  });
}

TEST(Sharded, NoneSumsOverReplicasOnlyAfterTheLastMicroBatch) {
  comm::run_mesh(2, 1, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64());
    model.state().set_last_micro_batch(false);
    const int64_t before = mesh.bytes_sent();
    model(at::arange(4)).backward();
    EXPECT_EQ(mesh.bytes_sent(), before);
    model.state().set_last_micro_batch(true);
    model(at::arange(4)).backward();
    EXPECT_GT(mesh.bytes_sent(), before);
  });
}

TEST(Sharded, AParameterUsedOnOneRankOnlyGetsThatRanksGradient) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64());
    // Block 1 completes in the middle of backward on rank 0, and at its end on rank 1.
    model->blocks[1]->use_unused = mesh.rank() == 0;
    model(at::arange(4)).backward();
    EXPECT_GT(model.state().full_gradient("block1.unused").abs().sum().item<double>(), 0);
    EXPECT_EQ(model.state().full_gradient("block0.unused").abs().sum().item<double>(), 0);
  });
}

TEST(Sharded, EveryRankStartsFromRankZerosValues) {
  comm::run_mesh(3, 3, [](comm::Mesh& mesh) {
    AwkwardNet net;
    {
      const at::NoGradGuard no_grad;
      for (auto& p : net->parameters()) p.fill_(mesh.rank() + 1);
    }
    auto model = fully_shard(net, mesh, in_float64());
    for (const auto& name : model.state().parameter_names()) {
      EXPECT_TRUE((model.state().full_parameter(name) == 1).all().item<bool>()) << name;
    }
  });
}

TEST(Sharded, AMetaParameterWithoutASourceIsAnError) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    AwkwardNet net;
    net->embedding.unsafeGetTensorImpl()->shallow_copy_from(
        at::empty({11, 5}, at::TensorOptions().dtype(at::kDouble).device(at::kMeta)).getIntrusivePtr());
    EXPECT_THROW(fully_shard(net, mesh, in_float64()), ConfigError);
  });
}

TEST(Sharded, ARootThatIsAPlainTorchModuleIsOneUnitCalledThroughTheHandle) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    torch::nn::Linear plain(3, 4);
    plain->to(at::kDouble);
    auto model = fully_shard(plain, mesh, in_float64());
    ASSERT_EQ(model.state().units().size(), 1);
    const auto x = at::ones({2, 3}, at::kDouble);
    const auto weight = model.state().full_parameter("weight");
    const auto bias = model.state().full_parameter("bias");
    const auto y = model(x);
    EXPECT_TRUE(at::allclose(y, at::linear(x, weight, bias)));
    y.sum().backward();
    EXPECT_TRUE(at::allclose(model.state().full_gradient("bias"), at::full({4}, 4.0, at::kDouble)));
  });
}

TEST(Sharded, SlicesOfAllRanksMakeUpTheParameters) {
  std::vector<std::vector<NamedSlice>> slices(3);
  at::Tensor whole;
  comm::run_mesh(3, 3, [&](comm::Mesh& mesh) {
    auto model = fully_shard(AwkwardNet(), mesh, in_float64());
    for (auto slice : model.state().slices()) {
      slice.values = slice.values.clone();
      slices[mesh.rank()].push_back(slice);
    }
    const auto full = model.state().full_parameter("block0.up");
    if (mesh.rank() == 0) whole = full;
  });
  const auto rebuilt = at::zeros({35}, at::kDouble);
  for (const auto& rank : slices) {
    for (const auto& slice : rank) {
      if (slice.name == "block0.up") rebuilt.narrow(0, slice.offset, slice.values.numel()).add_(slice.values);
    }
  }
  EXPECT_TRUE(at::equal(rebuilt.view({7, 5}), whole));
}

TEST(Sharded, Bf16ComputesInBf16AndKeepsFloat32MastersAndGradients) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    FsdpOptions options;
    options.wrap = wrap_by_type({"Block"});
    options.compute = options.reduce = at::kBFloat16;
    auto model = fully_shard(AwkwardNet(at::kFloat), mesh, options);
    EXPECT_EQ(model->blocks[0]->up.scalar_type(), at::kBFloat16);
    model(at::arange(4)).backward();
    for (const auto& shard : model.parameters()) {
      EXPECT_EQ(shard.scalar_type(), at::kFloat);
      EXPECT_EQ(shard.grad().scalar_type(), at::kFloat);
    }
  });
}

TEST(Sharded, AGradientKeptInBf16LosesNothingOfOneBackward) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    FsdpOptions options;
    options.compute = at::kBFloat16;
    auto wide = fully_shard(AwkwardNet(at::kFloat), mesh, options);
    options.grad = at::kBFloat16;
    auto narrow = fully_shard(AwkwardNet(at::kFloat), mesh, options);
    wide(at::arange(4)).backward();
    narrow(at::arange(4)).backward();
    for (size_t i = 0; i < wide.parameters().size(); ++i) {
      const at::Tensor grad = narrow.parameters()[i].grad();
      EXPECT_EQ(grad.scalar_type(), at::kBFloat16);
      EXPECT_TRUE(at::equal(grad.to(at::kFloat), wide.parameters()[i].grad()));
    }
    EXPECT_EQ(narrow.state().grad_norm(), wide.state().grad_norm());
  });
}

// The copy in the computing dtype is made once a step and serves evaluations too.
TEST(Sharded, ALoneRankKeepsItsParametersUntilTheyChange) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    FsdpOptions options;
    options.compute = at::kBFloat16;
    auto model = fully_shard(AwkwardNet(at::kFloat), mesh, options);
    const auto copy = [&] { return model->blocks[0]->up.const_data_ptr(); };
    model(at::arange(4)).backward();
    const void* before = copy();
    EXPECT_NE(before, nullptr);
    const at::Tensor old = model->blocks[0]->up.detach().clone();
    for (auto shard : model.parameters()) {
      const at::NoGradGuard no_grad;
      shard.add_(1);
    }
    model(at::arange(4));
    EXPECT_EQ(copy(), before);
    EXPECT_FALSE(at::equal(model->blocks[0]->up, old));
  });
}

}  // namespace
}  // namespace lockstep::fsdp
