#include "lockstep/kernels/softmax_loss.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/kernels/fused_attention.h"

namespace lockstep::kernels {
namespace {

struct Problem {
  at::Tensor logits, targets;
};

Problem random_problem(at::ScalarType dtype) {
  return {(at::randn({5, 37}, at::kDouble) * 4).to(dtype), at::randint(37, {5}, at::kLong)};
}

TEST(SoftmaxLoss, AndItsGradientEqualTorchs) {
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const auto [logits, targets] = random_problem(dtype);
    const auto wide = logits.to(at::kDouble).set_requires_grad(true);
    const auto right = -wide.log_softmax(-1).gather(1, targets.unsqueeze(1)).squeeze(1);
    right.sum().backward();
    const auto loss = softmax_loss(logits, targets, /*gradient=*/true);
    EXPECT_EQ(loss.scalar_type(), dtype == at::kDouble ? at::kDouble : at::kFloat);
    EXPECT_TRUE(at::allclose(loss.to(at::kDouble), right, 1e-6, 1e-6)) << dtype;
    const double tolerance = dtype == at::kBFloat16 ? 0x1p-8 : 1e-6;
    EXPECT_TRUE(at::allclose(logits.to(at::kDouble), wide.grad(), 0, tolerance)) << dtype;
  }
}

TEST(SoftmaxLoss, LeavesLogitsAloneWhenNoGradientIsAskedFor) {
  const auto [logits, targets] = random_problem(at::kFloat);
  const auto before = logits.clone();
  softmax_loss(logits, targets, /*gradient=*/false);
  EXPECT_TRUE(at::equal(logits, before));
}

TEST(SoftmaxLoss, StandsLogitsWhoseExponentialsOverflow) {
  const auto logits = at::tensor({1e4, 0.0, -1e4}, at::kFloat).unsqueeze(0);
  const auto loss = softmax_loss(logits, at::tensor({1}, at::kLong), /*gradient=*/true);
  EXPECT_TRUE(at::allclose(loss, at::tensor({1e4}, at::kFloat)));
  EXPECT_TRUE(at::allclose(logits, at::tensor({1.0, -1.0, 0.0}, at::kFloat).unsqueeze(0)));
}

TEST(CudnnAttention, IsNotForTheCpu) {
  const auto heads = at::randn({1, 2, 3, 4});
  EXPECT_EQ(cudnn_attention_refusal(heads, heads, heads), "the tensors are on the CPU");
}

}  // namespace
}  // namespace lockstep::kernels
