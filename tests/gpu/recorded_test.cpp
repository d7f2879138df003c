// Recorded parts against the same parts launched kernel by kernel.
#include "lockstep/nn/recorded.h"

#include <ATen/ATen.h>

#include "lockstep/nn/gradient_home.h"
#include "lockstep/nn/linears.h"
#include "tests/gpu/gpu_test.h"

namespace lockstep {
namespace {

using nn::Tensors;

// Two parts in a row, each (tanh(x W^T) + shift, 2 x), and what a step leaves.
struct Net {
  explicit Net(std::shared_ptr<nn::Recorder> given) : recorder(std::move(given)), parts(2) {
    at::manual_seed(3);
    for (int i = 0; i < 2; ++i) {
      weights.push_back(at::randn({24, 24}, at::kCUDA).div_(5).set_requires_grad(true));
      // As fsdp does: read as soon as it arrives.
      weights[i].register_hook([this, i](const at::Tensor& g) { gradients[i] = g.clone(); });
    }
  }

  at::Tensor forward(const at::Tensor& x, const at::Tensor& shift) {
    const bool record = recorder && recorder->free();
    Tensors carried{x, x};
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto body = [this, i](const Tensors& in) -> Tensors {
        ++bodies_run;
        return {at::tanh((in[0] + in[1]).matmul(weights[i].t())) + in[2], in[0] * 2};
      };
      const Tensors inputs{carried[0], carried[1], shift};
      carried = record ? parts[i].run(*recorder, body, inputs, {weights[i]}) : body(inputs);
    }
    return (carried[0] * carried[1]).sum();
  }

  std::shared_ptr<nn::Recorder> recorder;
  std::vector<nn::RecordedPart> parts;
  Tensors weights, gradients{2};
  int bodies_run = 0;
};

class GpuRecorded : public testing::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) cuda().set_device(0);
  }

  // A training step of both, with the gradient of x.
  static void expect_same_step(Net& recorded, Net& plain, int64_t rows) {
    const auto values = at::randn({rows, 24}, at::kCUDA), shift = at::randn({24}, at::kCUDA);
    const auto step = [&](Net& net) {
      const auto x = values.clone().set_requires_grad(true);
      const auto loss = net.forward(x * 1, shift.clone());
      loss.backward();
      return Tensors{loss, x.grad(), net.gradients[0], net.gradients[1]};
    };
    const Tensors got = step(recorded), right = step(plain);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(at::equal(got[i], right[i])) << i;
  }
};

TEST_F(GpuRecorded, StepsHaveTheBitsOfStepsLaunchedOneByOne) {
  Net recorded(nn::Recorder::make()), plain(nullptr);
  for (int step = 0; step < 6; ++step) expect_same_step(recorded, plain, 7);
  EXPECT_EQ(recorded.bodies_run, 2 * 4) << "thrice as they are, once recorded, and then replayed";
  EXPECT_FALSE(recorded.recorder->off());
}

TEST_F(GpuRecorded, OtherShapesAndForwardsWithoutGradientsRunAsTheyAre) {
  Net recorded(nn::Recorder::make()), plain(nullptr);
  for (int step = 0; step < 5; ++step) expect_same_step(recorded, plain, 7);
  {
    const at::NoGradGuard no_grad;
    const auto x = at::randn({7, 24}, at::kCUDA), shift = at::randn({24}, at::kCUDA);
    EXPECT_TRUE(at::equal(recorded.forward(x, shift), plain.forward(x, shift)));
  }
  expect_same_step(recorded, plain, 7);
  for (int step = 0; step < 6; ++step) expect_same_step(recorded, plain, 5);
}

TEST_F(GpuRecorded, AForwardBeforeAnEarlierOnesBackwardDoesNotTouchItsMemory) {
  Net recorded(nn::Recorder::make()), plain(nullptr);
  for (int step = 0; step < 5; ++step) expect_same_step(recorded, plain, 7);
  const auto a = at::randn({7, 24}, at::kCUDA), b = at::randn({7, 24}, at::kCUDA);
  const auto shift = at::randn({24}, at::kCUDA);
  const auto gradients_of = [&](Net& net) {
    const auto first = net.forward(a, shift), second = net.forward(b, shift);
    first.backward();
    const Tensors after_first = net.gradients;
    second.backward();
    return Tensors{after_first[0], after_first[1], net.gradients[0], net.gradients[1]};
  };
  const Tensors got = gradients_of(recorded), right = gradients_of(plain);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(at::equal(got[i], right[i])) << i;
  { const auto dropped = recorded.forward(a, shift); }  // its backward will not come
  EXPECT_TRUE(recorded.recorder->free());
  expect_same_step(recorded, plain, 7);
}

TEST_F(GpuRecorded, WeightsThatMovedAreReadWhereTheyAre) {
  Net recorded(nn::Recorder::make()), plain(nullptr);
  for (int step = 0; step < 5; ++step) expect_same_step(recorded, plain, 7);
  for (Net* net : {&recorded, &plain}) {
    const at::NoGradGuard no_grad;
    net->weights[1].set_data(net->weights[1].detach() * 2);
  }
  expect_same_step(recorded, plain, 7);
  // Between forward and backward, as a unit that is gathered again lies elsewhere.
  const auto x = at::randn({7, 24}, at::kCUDA), shift = at::randn({24}, at::kCUDA);
  for (Net* net : {&recorded, &plain}) {
    const auto loss = net->forward(x, shift);
    net->weights[0].set_data(net->weights[0].detach().clone());
    loss.backward();
  }
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(at::equal(recorded.gradients[i], plain.gradients[i])) << i;
}

TEST_F(GpuRecorded, GradientsAreWrittenWhereTheyAreWanted) {
  const auto recorder = nn::Recorder::make();
  nn::RecordedPart part;
  const auto weight = at::randn({16, 24}, at::kCUDA).set_requires_grad(true);
  const auto home = at::empty_like(weight);
  bool is_free = true;
  nn::set_gradient_home(weight, [&](nn::HomeUse) { return is_free ? home.view({16, 24}) : at::Tensor(); });
  const auto body = [&](const Tensors& in) { return nn::linears(in[0], {weight}, {}); };
  for (int step = 0; step < 8; ++step) {
    const auto x = at::randn({7, 24}, at::kCUDA).set_requires_grad(true), dy = at::randn({7, 16}, at::kCUDA);
    is_free = step != 6;  // another gradient of the weight lies there
    home.fill_(-1);
    part.run(*recorder, body, {x}, {weight})[0].backward(dy);
    EXPECT_TRUE(at::allclose(weight.grad(), dy.t().matmul(x.detach()), 1e-4, 1e-5)) << step;
    EXPECT_EQ(weight.grad().const_data_ptr() == home.const_data_ptr(), is_free) << step;
    if (!is_free) EXPECT_TRUE(home.eq(-1).all().item<bool>());
    weight.mutable_grad() = at::Tensor();
  }
  EXPECT_FALSE(recorder->off());
  nn::remove_gradient_home(weight);
}

TEST_F(GpuRecorded, WhatCannotBeRecordedRunsAsItIs) {
  Net recorded(nn::Recorder::make());
  nn::RecordedPart part;
  const auto x = at::randn({7}, at::kCUDA).set_requires_grad(true);
  const auto waits = [](const Tensors& in) -> Tensors { return {in[0] * in[0].sum().item<float>()}; };
  for (int step = 0; step < 6; ++step) {
    const auto y = part.run(*recorded.recorder, waits, {x}, {})[0];
    EXPECT_TRUE(at::equal(y, waits({x})[0]));
  }
  EXPECT_TRUE(recorded.recorder->off());
  EXPECT_FLOAT_EQ((at::ones({3}, at::kCUDA) * 2).sum().item<float>(), 6) << "the device still works";
}

}  // namespace
}  // namespace lockstep
