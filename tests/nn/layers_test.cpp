#include "lockstep/nn/layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "lockstep/nn/materialize.h"

namespace lockstep::nn {
namespace {

// Element i of a parameter is i, whatever its name.
struct CountingSource : WeightSource {
  void read(const std::string& name, int64_t offset, at::Tensor out) override {
    names.push_back(name);
    out.copy_(at::arange(offset, offset + out.numel(), out.options()));
  }
  std::vector<std::string> names;
};

at::Tensor row(const std::vector<double>& values) { return at::tensor(values, at::kDouble).unsqueeze(0); }

at::TensorOptions described() { return at::TensorOptions().device(at::kMeta); }

TEST(Layers, BearNamesThatWrapPoliciesMatch) {
  EXPECT_EQ(Linear(3, 5, true, described())->name(), "Linear");
  EXPECT_EQ(Embedding(7, 3, described())->name(), "Embedding");
  EXPECT_EQ(RMSNorm(3, 1e-6, described())->name(), "RMSNorm");
}

TEST(Layers, DescribedParametersTakeValuesInPlace) {
  Linear linear(3, 2, true, described());
  const at::Tensor handle = linear->weight;  // fsdp and optimizers keep handles
  CountingSource source;
  materialize(*linear, source, at::kDouble);
  EXPECT_TRUE(at::equal(handle, at::arange(6, at::kDouble).view({2, 3})));
  EXPECT_TRUE(handle.requires_grad());
  EXPECT_TRUE(at::equal(linear(at::ones({1, 3}, at::kDouble)), row({3, 13})));
}

TEST(Layers, ATiedWeightIsReadOnceAndStaysOne) {
  struct Tied : torch::nn::Module {
    Embedding embedding{register_module("embedding", Embedding(4, 2, described()))};
    Linear head{register_module("head", Linear(embedding->weight))};
  } model;
  CountingSource source;
  materialize(model, source, at::kFloat);
  EXPECT_EQ(source.names, std::vector<std::string>{"embedding.weight"});
  EXPECT_EQ(model.head->weight.data_ptr(), model.embedding->weight.data_ptr());
}

TEST(RMSNorm, DividesByTheRootMeanSquare) {
  RMSNorm norm(2, 0.5, at::kDouble);
  norm->weight.data().copy_(row({1, 10})[0]);
  // mean of squares 12.5, plus eps 0.5: sqrt(13)
  const auto expected = row({3, 40}) / std::sqrt(13.0);
  EXPECT_TRUE(at::allclose(norm(row({3, 4})), expected, 1e-12));
}

TEST(RMSNorm, SquaresOfBfloat16AreSummedInFloat32) {
  // In bf16 a sum of 4096 ones stops at 256, and the result would be 4.
  RMSNorm norm(4096, 1e-6, at::kBFloat16);
  norm->weight.data().fill_(1);
  const auto y = norm(at::ones({1, 4096}, at::kBFloat16));
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(y, at::ones_like(y)));
}

}  // namespace
}  // namespace lockstep::nn
