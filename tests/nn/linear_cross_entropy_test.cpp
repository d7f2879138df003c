#include "lockstep/nn/linear_cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

namespace lockstep::nn {
namespace {

constexpr int64_t kTokens = 7, kWidth = 5, kVocab = 11;

struct Problem {
  at::Tensor hidden, weight, targets;
};
Problem make_problem(at::ScalarType dtype = at::kDouble) {
  return {at::randn({kTokens, kWidth}, dtype).set_requires_grad(true),
          at::randn({kVocab, kWidth}, dtype).set_requires_grad(true),
          at::tensor({3, -100, 0, 10, 3, -100, 7}, at::kLong)};
}

at::Tensor plain_loss(const Problem& p) {
  return at::cross_entropy_loss(at::linear(p.hidden, p.weight), p.targets, {}, at::Reduction::Sum);
}

struct Gradients {
  at::Tensor hidden, weight;
};
Gradients gradients(const Problem& p, const at::Tensor& loss) {
  (loss / 3).backward();  // callers scale
  Gradients grads{p.hidden.grad().clone(), p.weight.grad().clone()};
  p.hidden.mutable_grad() = at::Tensor();
  p.weight.mutable_grad() = at::Tensor();
  return grads;
}

class ChunkSize : public testing::TestWithParam<int64_t> {};

TEST_P(ChunkSize, ChangesNeitherLossNorGradients) {
  const Problem p = make_problem();
  const auto loss = linear_cross_entropy(p.hidden, p.weight, p.targets, GetParam() * kVocab);
  const auto expected = plain_loss(p);
  EXPECT_TRUE(at::allclose(loss, expected, 1e-12));
  const auto got = gradients(p, loss);
  const auto right = gradients(p, expected);
  EXPECT_TRUE(at::allclose(got.hidden, right.hidden, 0, 1e-12));
  EXPECT_TRUE(at::allclose(got.weight, right.weight, 0, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Tokens, ChunkSize, testing::Values(1, 2, 5, 100));

TEST(LinearCrossEntropy, AFrozenHeadGetsNoGradient) {
  Problem p = make_problem();
  p.weight.set_requires_grad(false);
  linear_cross_entropy(p.hidden, p.weight, p.targets).backward();
  EXPECT_TRUE(p.hidden.grad().defined());
  EXPECT_FALSE(p.weight.grad().defined());
}

TEST(LinearCrossEntropy, NothingTrainedIsZeroWithZeroGradients) {
  Problem p = make_problem();
  p.targets.fill_(kUntrainedTarget);
  const auto loss = linear_cross_entropy(p.hidden, p.weight, p.targets);
  loss.backward();
  EXPECT_EQ(loss.item<double>(), 0.0);
  EXPECT_TRUE(at::equal(p.weight.grad(), at::zeros_like(p.weight)));
  EXPECT_TRUE(at::equal(p.hidden.grad(), at::zeros_like(p.hidden)));
}

TEST(LinearCrossEntropy, InBfloat16SumsInFloat32) {
  const Problem p = make_problem(at::kBFloat16);
  const auto loss = linear_cross_entropy(p.hidden, p.weight, p.targets, 2 * kVocab);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  const auto grads = gradients(p, loss);
  EXPECT_EQ(grads.weight.scalar_type(), at::kBFloat16);
  const Problem wide{p.hidden.detach().to(at::kFloat).set_requires_grad(true),
                     p.weight.detach().to(at::kFloat).set_requires_grad(true), p.targets};
  const auto right = plain_loss(wide);
  EXPECT_TRUE(at::allclose(loss, right, 1.6e-2));  // bfloat16 logits
  EXPECT_TRUE(at::allclose(grads.weight.to(at::kFloat), gradients(wide, right).weight, 0, 3e-2));
}

TEST(LinearCrossEntropy, WithoutGradientsKeepsNoGraph) {
  const c10::NoGradGuard no_grad;
  const Problem p = make_problem();
  const auto loss = linear_cross_entropy(p.hidden, p.weight, p.targets);
  EXPECT_FALSE(loss.requires_grad());
  EXPECT_TRUE(at::allclose(loss, plain_loss(p), 1e-12));
}

}  // namespace
}  // namespace lockstep::nn
