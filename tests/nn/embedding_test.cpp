#include "lockstep/nn/embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "lockstep/nn/gradient_home.h"
#include "lockstep/nn/linears.h"

namespace lockstep::nn {
namespace {

at::Tensor table(at::ScalarType dtype) { return at::randn({11, 5}).to(dtype).set_requires_grad(true); }

TEST(EmbeddingOf, AndItsGradientEqualTorchs) {
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const auto weight = table(dtype), same = weight.detach().clone().set_requires_grad(true);
    const auto indices = at::randint(7, {3, 9}, at::kLong);  // some come again, some rows have none
    const auto y_grad = at::randn({3, 9, 5}).to(dtype);
    const auto y = embed(weight, indices);
    EXPECT_TRUE(at::equal(y, at::embedding(weight, indices)));
    y.backward(y_grad);
    at::embedding(same, indices).backward(y_grad);
    EXPECT_TRUE(at::equal(weight.grad(), same.grad())) << dtype;
  }
}

// 1 and 256 quarters of its last bit, each of which bf16 would lose beside the 1.
TEST(EmbeddingOf, GradientsOfBfloat16AreAddedInFloat32) {
  const auto weight = table(at::kBFloat16);
  auto y_grad = at::full({257, 5}, 0x1p-9, at::kBFloat16);
  y_grad[0].fill_(1);
  embed(weight, at::full({257}, 3, at::kLong)).backward(y_grad);
  EXPECT_EQ(weight.grad()[3][0].item<float>(), 1.5);
  EXPECT_EQ(weight.grad()[2][0].item<float>(), 0);
}

TEST(EmbeddingOf, AddsToTheGradientOfAHeadThatSharesItsWeight) {
  const auto weight = table(at::kDouble), same = weight.detach().clone().set_requires_grad(true);
  const auto indices = at::randint(7, {4}, at::kLong);
  const auto loss = [&](const at::Tensor& w) {
    return linears(embed(w, indices).sin(), {w}, {}).front().cos().sum();
  };
  loss(same).backward();
  const auto home = at::full({11, 5}, NAN, at::kDouble);
  int begun = 0;
  set_gradient_home(weight, [&](HomeUse use) {
    if (use == HomeUse::kBegun) ++begun;
    return home.view({11, 5});
  });
  loss(weight).backward();
  remove_gradient_home(weight);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(weight.grad().const_data_ptr(), home.const_data_ptr());
  EXPECT_TRUE(at::equal(weight.grad(), same.grad()));
}

}  // namespace
}  // namespace lockstep::nn
