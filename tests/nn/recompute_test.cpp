#include "lockstep/nn/recompute.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lockstep::nn {
namespace {

struct Results {
  at::Tensor loss, weight_grad, x_grad;
};

// Two outputs, of which one is used twice; `x` carries gradients or does not.
Results run(bool again, bool x_requires_grad, int* calls = nullptr) {
  at::manual_seed(3);
  const auto weight = at::randn({5, 5}, at::kDouble).set_requires_grad(true);
  const auto x = at::randn({4, 5}, at::kDouble).set_requires_grad(x_requires_grad);
  const auto y = at::randn({4, 5}, at::kDouble);
  const auto body = [weight, calls](const Tensors& in) -> Tensors {
    if (calls != nullptr) ++*calls;
    const auto hidden = in[0].mm(weight).tanh();
    return {hidden + in[1], hidden.mm(weight)};
  };
  const Tensors out = again ? recomputed(body, {x, y}) : body({x, y});
  const auto loss = (out[0] * out[1]).sum() + out[1].sin().sum();
  loss.backward();
  return {loss.detach(), weight.grad(), x.grad()};
}

TEST(Recompute, GivesTheBitsThatTheBodyGives) {
  for (const bool x_requires_grad : {true, false}) {
    int calls = 0;
    const auto right = run(false, x_requires_grad), got = run(true, x_requires_grad, &calls);
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(at::equal(got.loss, right.loss));
    EXPECT_TRUE(at::equal(got.weight_grad, right.weight_grad));
    EXPECT_EQ(got.x_grad.defined(), x_requires_grad);
    if (x_requires_grad) EXPECT_TRUE(at::equal(got.x_grad, right.x_grad));
  }
}

TEST(Recompute, KeepsNothingOfTheFirstForward) {
  const auto weight = at::ones({3}).set_requires_grad(true);
  c10::weak_intrusive_ptr<c10::TensorImpl> hidden(c10::intrusive_ptr<c10::TensorImpl>{});
  const auto out = recomputed(
      [&](const Tensors& in) -> Tensors {
        const auto inner = in[0] * weight;
        hidden = c10::weak_intrusive_ptr<c10::TensorImpl>(inner.getIntrusivePtr());
        return {inner.exp()};
      },
      {at::ones({3})});
  EXPECT_TRUE(hidden.expired());
  EXPECT_TRUE(out[0].requires_grad());
}

TEST(Recompute, SaysWhichForwardItIs) {
  std::vector<bool> first;
  const auto x = at::ones({2}).set_requires_grad(true);
  const auto out = recomputed(
      [&](const Tensors& in) -> Tensors {
        first.push_back(is_to_be_recomputed());
        return {in[0] * 2};
      },
      {x});
  EXPECT_FALSE(is_to_be_recomputed());
  out[0].sum().backward();
  EXPECT_EQ(first, (std::vector<bool>{true, false}));
  EXPECT_TRUE(at::equal(x.grad(), at::full({2}, 2.0)));
}

TEST(Recompute, WithoutGradientsIsTheBody) {
  const at::NoGradGuard no_grad;
  bool first = true;
  const auto out = recomputed(
      [&](const Tensors& in) -> Tensors {
        first = is_to_be_recomputed();
        return {in[0] + 1};
      },
      {at::zeros({2})});
  EXPECT_FALSE(first);
  EXPECT_TRUE(at::equal(out[0], at::ones({2})));
}

// An output without a gradient of its own takes no part.
TEST(Recompute, TakesOutputsThatNobodyUses) {
  const auto x = at::ones({2}).set_requires_grad(true);
  const auto out = recomputed([](const Tensors& in) -> Tensors { return {in[0] * 3, in[0] * 5}; }, {x});
  out[1].sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), at::full({2}, 5.0)));
}

}  // namespace
}  // namespace lockstep::nn
