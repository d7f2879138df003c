#include "lockstep/optim/adamw.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "tests/paths.h"

namespace lockstep::optim {
namespace {

using ::testing::HasSubstr;

at::Tensor tensor(std::vector<double> values, at::ScalarType dtype = at::kDouble) {
  return at::from_blob(values.data(), {int64_t(values.size())}, at::kDouble).clone().to(dtype);
}

at::Tensor parameter(at::Tensor values) { return values.set_requires_grad(true); }

void expect_refusal(const std::function<void()>& body, const std::string& words) {
  try {
    body();
    FAIL() << "nothing refused; expected: " << words;
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(AdamW, EqualsTorchOverTenSteps) {
  const auto reference = Json::parse(std::ifstream(test_data("optim/adamw.json")));
  for (const Json& expected : reference["cases"]) {
    const bool is_float = expected["dtype"] == "float32";
    const auto dtype = is_float ? at::kFloat : at::kDouble;
    const Json& o = expected["options"];
    auto p = parameter(tensor(reference["start"], dtype));
    AdamW optimizer({p}, {o["lr"], o["betas"][0], o["betas"][1], o["eps"], o["weight_decay"]});
    for (int step = 0; step < 10; ++step) {
      optimizer.set_lr(o["lr"].get<double>() * (1 - step / 16.0));
      p.mutable_grad() = tensor(reference["gradients"][step], dtype);
      optimizer.step();
      const auto difference = (p.detach().to(at::kDouble) - tensor(expected["weights"][step])).abs().max();
      EXPECT_LT(difference.item<double>(), is_float ? 1e-6 : 1e-12) << expected["name"] << " step " << step;
    }
  }
}

// Large enough for several threads and chunks, and no multiple of a vector width.
TEST(AdamW, ResultOfAnElementDoesNotDependOnItsPlace) {
  const int64_t n = 100'003, cut = 33'331;
  const auto start = at::rand({n}), gradient = at::rand({n}) - 0.5;
  auto whole = parameter(start.clone());
  auto head = parameter(start.narrow(0, 0, cut).clone());
  auto tail = parameter(start.narrow(0, cut, n - cut).clone());
  whole.mutable_grad() = gradient;
  head.mutable_grad() = gradient.narrow(0, 0, cut);
  tail.mutable_grad() = gradient.narrow(0, cut, n - cut);
  AdamW at_once({whole}), in_parts({head, tail});
  for (int step = 0; step < 3; ++step) {
    at_once.step();
    in_parts.step();
  }
  EXPECT_TRUE(at::equal(whole.narrow(0, 0, cut), head));
  EXPECT_TRUE(at::equal(whole.narrow(0, cut, n - cut), tail));
}

TEST(AdamW, ScalesGradientsAsIfTheyHadBeenMultiplied) {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto start = at::rand({101}, dtype), gradient = at::rand({101}, dtype) - 0.5;
    auto scaled = parameter(start.clone()), multiplied = parameter(start.clone());
    AdamW one({scaled}), other({multiplied});
    for (int step = 0; step < 3; ++step) {
      scaled.mutable_grad() = gradient.clone();
      multiplied.mutable_grad() = gradient * 0.3;
      one.step(0.3);
      other.step();
      EXPECT_TRUE(at::equal(scaled.grad(), gradient));
    }
    EXPECT_TRUE(at::equal(scaled, multiplied));
  }
}

TEST(AdamW, TakesAGradientInBfloat16AsTheSameNumbersInFloat32) {
  const auto start = at::rand({101}), gradient = (at::rand({101}) - 0.5).to(at::kBFloat16);
  auto narrow = parameter(start.clone()), wide = parameter(start.clone());
  narrow.mutable_grad() = gradient;
  wide.mutable_grad() = gradient.to(at::kFloat);
  AdamW({narrow}).step(0.3);
  AdamW({wide}).step(0.3);
  EXPECT_TRUE(at::equal(narrow, wide));
}

// As torch.optim.AdamW's fused kernel does: computed in float32, rounded as it is stored.
TEST(AdamW, KeepsBfloat16ByRoundingTheResultInFloat32) {
  const auto start = at::rand({101}).to(at::kBFloat16), gradient = at::rand({101}) - 0.5;
  auto narrow = parameter(start.clone()), wide = parameter(start.to(at::kFloat));
  narrow.mutable_grad() = gradient;
  wide.mutable_grad() = gradient;
  AdamW one({narrow}, {.lr = 0.1}), other({wide}, {.lr = 0.1});
  one.step(0.3);
  other.step(0.3);
  EXPECT_TRUE(at::equal(narrow, wide.to(at::kBFloat16)));
  for (size_t i : {0, 1})
    EXPECT_TRUE(at::equal(one.state()[i].tensor, other.state()[i].tensor.to(at::kBFloat16)));
}

TEST(AdamW, WritesACopyInBfloat16) {
  auto p = parameter(at::rand({101})), alone = parameter(at::rand({7}));
  p.mutable_grad() = at::rand({101});
  alone.mutable_grad() = at::rand({7});
  const auto copy = at::zeros({101}, at::kBFloat16);
  AdamW({p, alone}).step(1, {copy, {}});
  EXPECT_TRUE(at::equal(copy, p.detach().to(at::kBFloat16)));
}

TEST(AdamW, RaisesTheVersionOfWhatItChanges) {
  auto p = parameter(at::ones({5}));
  p.mutable_grad() = at::ones({5});
  const auto before = p._version();
  AdamW({p}).step();
  EXPECT_GT(p._version(), before);
}

TEST(AdamW, LeavesAParameterWithoutGradientAlone) {
  auto used = parameter(at::ones({3})), unused = parameter(at::ones({3}));
  AdamW optimizer({used, unused}, {.weight_decay = 0.5});
  used.mutable_grad() = at::ones({3});
  optimizer.step();
  EXPECT_TRUE(at::equal(unused, at::ones({3})));
  EXPECT_FALSE(at::equal(used, at::ones({3})));
  optimizer.zero_grad();
  EXPECT_FALSE(used.grad().defined());
}

TEST(AdamW, ContinuesFromItsState) {
  const auto start = at::rand({9}), gradient = at::rand({9});
  auto straight = parameter(start.clone());
  straight.mutable_grad() = gradient;
  AdamW first({straight});
  first.step();
  std::vector<NamedState> saved;
  for (const auto& [name, value] : first.state()) saved.insert(saved.begin(), {name, value.clone()});

  auto continued = parameter(straight.detach().clone());
  continued.mutable_grad() = gradient;
  AdamW second({continued});
  second.load_state(saved);
  first.step();
  second.step();
  EXPECT_TRUE(at::equal(straight, continued));
}

TEST(AdamW, RefusesAnotherModelsStateAndStaysAsItWas) {
  AdamW small({parameter(at::ones({4}))}), large({parameter(at::ones({8}))});
  AdamW two({parameter(at::ones({4})), parameter(at::ones({4}))});
  auto state = small.state();
  state[0].tensor = at::full({4}, 7);
  state[1].tensor = at::ones({3});
  expect_refusal([&] { small.load_state(state); },
                 "'exp_avg_sq.0' has 3 elements, the parameter's shard here 4");
  EXPECT_TRUE(at::equal(small.state()[0].tensor, at::zeros({4})));
  expect_refusal([&] { two.load_state(small.state()); }, "no 'exp_avg.1'");
  expect_refusal([&] { small.load_state(two.state()); }, "has 6 tensors, 1 parameters need 3");
}

TEST(AdamW, RefusesViewsOfASharedBuffer) {
  const auto buffer = at::ones({10});
  expect_refusal([&] { AdamW({parameter(buffer.narrow(0, 2, 4).detach())}); },
                 "parameter 0 is a view of 16 bytes into a buffer of 40");
  expect_refusal([&] { AdamW({parameter(buffer.narrow(0, 2, 4).detach())}); }, "that prepare_model returned");
}

TEST(AdamW, RefusesParametersItCannotUpdate) {
  const auto p = parameter(at::ones({4}));
  expect_refusal([&] { AdamW({p, p}); }, "parameter 1 was given twice");
  expect_refusal([&] { AdamW({p * 2}); }, "not a leaf");
  expect_refusal([] { AdamW({at::ones({4}, at::kHalf)}); }, "is Half");
  expect_refusal([] { AdamW({at::Tensor()}); }, "not defined");
}

TEST(AdamWOptions, RefuseValuesOutOfRange) {
  expect_refusal([] { AdamW({}, {.eps = -1}); }, "optimizer.eps must not be negative, got -1");
  expect_refusal([] { AdamW({}, {.beta2 = 1}); }, "optimizer.betas must lie in [0, 1), got 1");
}

}  // namespace
}  // namespace lockstep::optim
