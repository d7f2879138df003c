// Sharded training equals unsharded training on the same global batch: loss, every gradient,
// and the weights after 5 steps of AdamW.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "tests/fsdp/awkward_net.h"

namespace lockstep::fsdp {
namespace {

using testing::AwkwardNet;

constexpr int kSteps = 5;
constexpr int kRows = 36;  // divisible by every world size times every accumulation count
constexpr double kClip = 0.05;

// The optimizer of the comparison, ten lines; lockstep::optim::AdamW has tests of its own.
class PlainAdamW {
 public:
  void step(const std::vector<at::Tensor>& parameters) {
    const at::NoGradGuard no_grad;
    ++steps_;
    for (size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor p = parameters[i], g = p.grad();
      if (m_.size() <= i) m_.push_back(at::zeros_like(g)), v_.push_back(at::zeros_like(g));
      m_[i].mul_(0.9).add_(g, 0.1);
      v_[i].mul_(0.999).addcmul_(g, g, 0.001);
      const at::Tensor denominator = (v_[i] / (1 - std::pow(0.999, steps_))).sqrt().add_(1e-8);
      p.mul_(1 - 1e-2 * 0.01).sub_(1e-2 * (m_[i] / (1 - std::pow(0.9, steps_))) / denominator);
    }
  }

 private:
  int steps_ = 0;
  std::vector<at::Tensor> m_, v_;
};

at::Tensor batch_of_step(int step) { return (at::arange(kRows) * 5 + step).remainder(11); }

struct Trajectory {
  std::vector<double> losses, norms;
  std::map<std::string, at::Tensor> first_gradients, weights;
};

// Tied weights once.
torch::OrderedDict<std::string, at::Tensor> parameters_of(const AwkwardNet& net) {
  auto all = net->named_parameters();
  all.erase("head.weight");
  return all;
}

Trajectory train_unsharded(at::ScalarType dtype, bool clip) {
  AwkwardNet net(dtype);
  PlainAdamW optimizer;
  std::vector<at::Tensor> trainable;
  for (const auto& p : parameters_of(net)) {
    if (p.value().requires_grad()) trainable.push_back(p.value());
  }
  Trajectory result;
  for (int step = 0; step < kSteps; ++step) {
    at::Tensor loss = net(batch_of_step(step)) / kRows;
    loss.backward();
    double squares = 0;
    for (auto& p : trainable) {
      if (!p.grad().defined()) p.mutable_grad() = at::zeros_like(p.detach());  // unused counts as zero
      squares += p.grad().to(at::kDouble).square().sum().item<double>();
    }
    result.losses.push_back(loss.item<double>());
    result.norms.push_back(std::sqrt(squares));
    if (step == 0) {
      for (const auto& p : parameters_of(net)) {
        if (p.value().requires_grad()) result.first_gradients[p.key()] = p.value().grad().clone();
      }
    }
    for (auto& p : trainable) {
      const double scale = kClip / (result.norms.back() + 1e-6);
      if (clip && scale < 1) p.mutable_grad().mul_(scale);
    }
    optimizer.step(trainable);
    for (auto& p : trainable) p.mutable_grad().reset();
  }
  for (const auto& p : parameters_of(net)) result.weights[p.key()] = p.value().detach().clone();
  return result;
}

Trajectory train_sharded(comm::Mesh& mesh, const FsdpOptions& options, int accumulation, bool clip) {
  auto model = fully_shard(AwkwardNet(options.master), mesh, options);
  PlainAdamW optimizer;
  Trajectory result;
  const int64_t rows = kRows / (mesh.world_size() * accumulation);
  for (int step = 0; step < kSteps; ++step) {
    at::Tensor loss_sum = at::zeros({1}, at::kDouble);
    for (int micro = 0; micro < accumulation; ++micro) {
      model.state().set_last_micro_batch(micro + 1 == accumulation);
      const at::Tensor tokens =
          batch_of_step(step).narrow(0, (mesh.rank() * accumulation + micro) * rows, rows);
      at::Tensor loss = model(tokens) / kRows;
      loss.backward();
      loss_sum += loss.detach();
    }
    mesh.world().all_reduce(loss_sum).wait();
    result.losses.push_back(loss_sum.item<double>());
    if (step == 0) {
      for (const auto& name : model.state().parameter_names()) {
        if (name.find("frozen") == std::string::npos) {
          result.first_gradients[name] = model.state().full_gradient(name);
        }
      }
    }
    result.norms.push_back(model.clip_grad_norm(clip ? kClip : 0));
    optimizer.step(model.parameters());
    for (auto& p : model.parameters()) p.mutable_grad().reset();
  }
  for (const auto& name : model.state().parameter_names()) {
    result.weights[name] = model.state().full_parameter(name);
  }
  return result;
}

void expect_close(const std::map<std::string, at::Tensor>& got, const std::map<std::string, at::Tensor>& want,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (const auto& [name, tensor] : want) {
    ASSERT_TRUE(got.contains(name)) << what << " " << name;
    const double difference = (got.at(name) - tensor).abs().max().item<double>();
    EXPECT_LE(difference, tolerance) << what << " " << name;
  }
}

struct Case {
  bool by_type;
  int accumulation;
  bool clip;
  at::ScalarType dtype;
  int ahead = 0;  // units prefetched and reductions left running

  std::string words() const {
    return fmt::format("wrapped by {}, accumulation {}, {}, {}, {} ahead", by_type ? "type" : "size",
                       accumulation, clip ? "clipped" : "not clipped",
                       dtype == at::kDouble ? "float64" : "float32", ahead);
  }
};

void expect_equal_to_unsharded(int world_size, const std::string& strategy, const std::vector<Case>& cases) {
  // [case][rank]
  std::vector<std::vector<Trajectory>> got(cases.size(), std::vector<Trajectory>(world_size));
  comm::run_mesh(world_size, strategy == "none" ? 1 : world_size, [&](comm::Mesh& mesh) {
    for (size_t i = 0; i < cases.size(); ++i) {
      FsdpOptions options;
      options.strategy = strategy == "grad_op" ? Strategy::kGradOp : Strategy::kFull;
      options.wrap = cases[i].by_type ? wrap_by_type({"Block"}) : wrap_by_size(80);
      options.compute = options.master = options.reduce = cases[i].dtype;
      options.prefetch_units = options.reductions_in_flight = cases[i].ahead;
      got[i][mesh.rank()] = train_sharded(mesh, options, cases[i].accumulation, cases[i].clip);
    }
  });
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].words());
    const double tolerance = cases[i].dtype == at::kDouble ? 1e-9 : 1e-5;
    const Trajectory want = train_unsharded(cases[i].dtype, cases[i].clip);
    for (const auto& rank : got[i]) {
      for (int step = 0; step < kSteps; ++step) {
        EXPECT_NEAR(rank.losses[step], want.losses[step], tolerance);
        EXPECT_NEAR(rank.norms[step], want.norms[step], tolerance);
      }
      expect_close(rank.first_gradients, want.first_gradients, tolerance, "gradient of");
      expect_close(rank.weights, want.weights, tolerance, "weights of");
    }
  }
}

class ShardedEqualsUnsharded : public ::testing::TestWithParam<std::tuple<int, std::string>> {};

TEST_P(ShardedEqualsUnsharded, InLossGradientsAndWeights) {
  std::vector<Case> cases;
  for (const bool by_type : {false, true}) {
    for (const int accumulation : {1, 3}) {
      for (const bool clip : {false, true}) cases.push_back({by_type, accumulation, clip, at::kDouble});
    }
  }
  cases.push_back({true, 3, true, at::kFloat});
  cases.push_back({true, 3, true, at::kDouble, /*ahead=*/1});
  const auto& [world_size, strategy] = GetParam();
  expect_equal_to_unsharded(world_size, strategy, cases);
}

INSTANTIATE_TEST_SUITE_P(Worlds, ShardedEqualsUnsharded,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values("full", "grad_op", "none")),
                         [](const auto& info) {
                           return fmt::format("{}Ranks_{}", std::get<0>(info.param), std::get<1>(info.param));
                         });

}  // namespace
}  // namespace lockstep::fsdp
