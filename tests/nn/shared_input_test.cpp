#include "lockstep/nn/shared_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/all.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "lockstep/kernels/side_by_side.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::nn {
namespace {

std::vector<Linear> make_layers(bool with_bias) {
  std::vector<Linear> layers;
  const at::NoGradGuard no_grad;
  for (const int64_t out : {5, 2, 3}) {
    layers.emplace_back(4, out, with_bias, at::TensorOptions(at::kDouble));
    for (auto& parameter : layers.back()->parameters()) parameter.normal_();
  }
  return layers;
}

// The gradients of x and of every parameter, after one backward pass through all outputs.
std::vector<at::Tensor> gradients(const at::Tensor& x, const std::vector<Linear>& layers,
                                  const std::vector<at::Tensor>& outputs) {
  at::Tensor loss = (outputs[0] * outputs[0]).sum();
  for (size_t i = 1; i < outputs.size(); ++i) loss = loss + (outputs[i].sin() * double(i + 1)).sum();
  loss.backward();
  std::vector<at::Tensor> result;
  const auto take = [&](at::Tensor tensor) {
    result.push_back(tensor.grad());
    tensor.mutable_grad() = at::Tensor();
  };
  take(x);
  for (const auto& layer : layers) {
    for (const auto& parameter : layer->parameters()) take(parameter);
  }
  return result;
}

TEST(LinearEach, WritesEachGradientWhereItIsWanted) {
  auto layers = make_layers(/*with_bias=*/true);
  auto parameters = layers[0]->parameters();
  for (const auto& parameter : layers[1]->parameters()) parameters.push_back(parameter);
  std::vector<at::Tensor> homes;
  for (size_t i = 0; i < parameters.size(); ++i) {
    homes.push_back(at::empty_like(parameters[i]));
    set_gradient_home(parameters[i], [home = homes[i]](HomeUse) { return home.view(home.sizes()); });
  }
  const auto x = at::randn({2, 3, 4}, at::kDouble);
  const auto outputs = linear_each(x, {layers[0], layers[1]});
  (outputs[0].sum() + outputs[1].sum()).backward();
  for (size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(parameters[i].grad().const_data_ptr(), homes[i].const_data_ptr()) << i;
    remove_gradient_home(parameters[i]);
  }
}

TEST(LinearEach, AnInputThatIsMadeAgainIsNotKept) {
  for (const bool again : {false, true}) {
    auto layers = make_layers(/*with_bias=*/true);
    RMSNorm norm(4, 1e-6, at::TensorOptions(at::kDouble));
    {
      const at::NoGradGuard no_grad;
      norm->weight.normal_();
    }
    const auto x = at::randn({2, 3, 4}, at::kDouble).set_requires_grad(true);
    const auto results = [&](bool makes_again) {
      const auto normed = norm(x);
      const auto outputs =
          linear_each(normed, layers, makes_again ? std::optional(norm->made_again(x)) : std::nullopt);
      EXPECT_EQ(normed.storage().use_count(), makes_again ? 1 : 2);
      return gradients(x, layers, outputs);
    };
    const auto got = results(again), right = results(false);
    ASSERT_EQ(got.size(), right.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(at::equal(got[i], right[i])) << i;
  }
}

TEST(LinearEach, HasTheResultsOfTheLayersOneByOne) {
  for (const bool with_bias : {false, true}) {
    auto layers = make_layers(with_bias);
    const auto x = at::randn({2, 3, 4}, at::kDouble).set_requires_grad(true);
    const auto outputs = linear_each(x, layers);
    std::vector<at::Tensor> expected;
    for (auto& layer : layers) expected.push_back(layer(x));
    for (size_t i = 0; i < layers.size(); ++i) EXPECT_TRUE(at::equal(outputs[i], expected[i]));
    const auto got = gradients(x, layers, outputs), right = gradients(x, layers, expected);
    ASSERT_EQ(got.size(), right.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(at::allclose(got[i], right[i], 1e-12, 1e-12)) << i;
  }
}

// Moves the layers' weights, and biases, next to each other.
void lay_side_by_side(const std::vector<Linear>& layers) {
  for (const auto which : {&LinearImpl::weight, &LinearImpl::bias}) {
    std::vector<at::Tensor> parameters, values;
    for (const Linear& layer : layers) {
      const at::Tensor& parameter = layer.get()->*which;
      if (!parameter.defined()) continue;
      parameters.push_back(parameter);
      values.push_back(parameter.detach());
    }
    if (values.empty()) continue;
    const auto joined = at::cat(values);
    int64_t begin = 0;
    for (at::Tensor& parameter : parameters) {
      parameter.set_data(joined.narrow(0, begin, parameter.size(0)));
      begin += parameter.size(0);
    }
  }
}

TEST(LinearEach, IsOneLayerWhereParametersLieSideBySide) {
  for (const bool with_bias : {false, true}) {
    auto layers = make_layers(with_bias);
    const auto x = at::randn({2, 3, 4}, at::kDouble).set_requires_grad(true);
    const auto apart = linear_each(x, layers);
    const auto right = gradients(x, layers, apart);
    lay_side_by_side(layers);
    const auto outputs = linear_each(x, layers);
    EXPECT_TRUE(kernels::joined_columns(outputs).has_value());
    for (size_t i = 0; i < layers.size(); ++i) EXPECT_TRUE(at::allclose(outputs[i], apart[i], 1e-12, 1e-12));
    const auto got = gradients(x, layers, outputs);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(at::allclose(got[i], right[i], 1e-12, 1e-12)) << i;
    const size_t weight = 1, stride = with_bias ? 2 : 1;
    EXPECT_TRUE(
        kernels::joined_rows({got[weight], got[weight + stride], got[weight + 2 * stride]}).has_value());
  }
}

TEST(LinearEach, WritesJointGradientsToHomesSideBySide) {
  auto layers = make_layers(/*with_bias=*/false);
  lay_side_by_side(layers);
  const auto homes = at::zeros({10, 4}, at::kDouble);
  const auto parts = homes.split_with_sizes({5, 2, 3}, 0);
  for (size_t i = 0; i < 3; ++i)
    set_gradient_home(layers[i]->weight, [home = parts[i]](HomeUse) { return home.view(home.sizes()); });
  const auto outputs = linear_each(at::randn({3, 4}, at::kDouble), layers);
  (outputs[0].sum() + outputs[1].sum() + outputs[2].sum()).backward();
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(layers[i]->weight.grad().const_data_ptr(), parts[i].const_data_ptr()) << i;
    remove_gradient_home(layers[i]->weight);
  }
  EXPECT_TRUE(homes.ne(0).all().item<bool>());
}

TEST(LinearEach, LeavesOutWhatNeedsNoGradient) {
  auto layers = make_layers(true);
  layers[1]->weight.set_requires_grad(false);
  const auto x = at::randn({3, 4}, at::kDouble);
  linear_each(x, layers)[0].sum().backward();
  EXPECT_TRUE(layers[0]->weight.grad().defined());
  EXPECT_FALSE(layers[1]->weight.grad().defined());
  EXPECT_FALSE(x.grad().defined());
}

struct Counted : ForwardHooks {
  void before_forward() override { ++entered; }
  void after_forward(const std::vector<at::Tensor>& outputs) override { num_outputs += outputs.size(); }
  void abandon_forward() noexcept override {}
  int entered = 0;
  size_t num_outputs = 0;
};

TEST(LinearEach, RunsTheHooksOfEveryLayer) {
  auto layers = make_layers(false);
  const auto hooks = std::make_shared<Counted>();
  for (auto& layer : layers) layer->set_forward_hooks(hooks);
  linear_each(at::randn({3, 4}, at::kDouble), layers);
  EXPECT_EQ(hooks->entered, 3);
  EXPECT_EQ(hooks->num_outputs, 9U);  // each sees them all
}

}  // namespace
}  // namespace lockstep::nn
