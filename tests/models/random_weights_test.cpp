#include "lockstep/models/random_weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace lockstep::models {
namespace {

at::Tensor read(uint64_t seed, const std::string& name, int64_t offset, int64_t count) {
  const auto out = at::empty({count}, at::kFloat);
  RandomWeights(seed, 0.5).read(name, offset, out);
  return out;
}

TEST(RandomWeights, ASliceIsTheSameWithoutTheRest) {
  const auto whole = read(1, "w", 0, 103);
  for (const auto& [offset, count] :
       {std::pair{0, 1}, std::pair{1, 5}, std::pair{7, 90}, std::pair{102, 1}}) {
    EXPECT_TRUE(at::equal(read(1, "w", offset, count), whole.narrow(0, offset, count))) << offset;
  }
}

TEST(RandomWeights, SeedAndNameEachGiveOtherNumbers) {
  EXPECT_FALSE(at::equal(read(1, "w", 0, 8), read(2, "w", 0, 8)));
  EXPECT_FALSE(at::equal(read(1, "w", 0, 8), read(1, "v", 0, 8)));
}

TEST(RandomWeights, AreNormalWithTheDeviationAskedFor) {
  const auto values = read(1, "w", 0, 200'000).to(at::kDouble) / 0.5;
  EXPECT_NEAR(values.mean().item<double>(), 0.0, 0.01);
  EXPECT_NEAR(values.square().mean().item<double>(), 1.0, 0.02);
  EXPECT_NEAR(values.abs().lt(1).to(at::kDouble).mean().item<double>(), 0.6827, 0.01);
  EXPECT_NEAR(values.pow(4).mean().item<double>(), 3.0, 0.15);
}

TEST(RandomWeights, NormsAreOneAndBiasesZero) {
  EXPECT_TRUE(at::equal(read(1, "model.layers.0.self_attn.q_norm.weight", 0, 4), at::ones({4})));
  EXPECT_TRUE(at::equal(read(1, "model.layers.0.self_attn.q_proj.bias", 0, 4), at::zeros({4})));
}

}  // namespace
}  // namespace lockstep::models
