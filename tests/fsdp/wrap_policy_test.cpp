#include "lockstep/fsdp/wrap_policy.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/container/modulelist.h>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/nn/layers.h"

namespace lockstep::fsdp {
namespace {

struct PairImpl : nn::Module {
  PairImpl() {
    first = register_module("first", nn::Linear(8, 8, /*with_bias=*/false, at::kFloat));
    second = register_module("second", nn::Linear(8, 8, /*with_bias=*/false, at::kFloat));
  }
  at::Tensor forward(const at::Tensor& x) { return second(first(x)); }
  nn::Linear first{nullptr}, second{nullptr};
};
LOCKSTEP_MODULE(Pair);

struct StackImpl : nn::Module {
  StackImpl() {
    entry = register_module("entry", nn::Linear(8, 9, /*with_bias=*/false, at::kFloat));
    torch::nn::ModuleList list;
    for (int i = 0; i < 2; ++i) list->push_back(Pair());
    register_module("layers", list);
  }
  at::Tensor forward(const at::Tensor& x) { return entry(x); }
  nn::Linear entry{nullptr};
};
LOCKSTEP_MODULE(Stack);

TEST(WrapBySize, ALayerIsOneUnitThoughItsMatricesAreLargeEnough) {
  comm::run_mesh(1, 1, [](comm::Mesh& mesh) {
    const auto names_of = [&](int64_t min_parameters) {
      FsdpOptions options;
      options.wrap = wrap_by_size(min_parameters);
      std::vector<std::string> names;
      for (const auto& unit : fully_shard(Stack(), mesh, options).state().units()) names.push_back(unit.name);
      return names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names_of(60), (Names{"(root)", "entry", "layers.0", "layers.1"}));
    EXPECT_EQ(names_of(100), (Names{"(root)", "layers.0", "layers.1"}));
    EXPECT_EQ(names_of(200), Names{"(root)"}) << "neither a layer nor what is in it";
  });
}

}  // namespace
}  // namespace lockstep::fsdp
