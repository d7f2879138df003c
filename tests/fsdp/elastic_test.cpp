// FsdpOptions::elastic: the same bits from any power of two of ranks, any strategy, any wrap policy.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lockstep/comm/run_ranks.h"
#include "lockstep/fsdp/sharded.h"
#include "lockstep/optim/adamw.h"
#include "tests/fsdp/awkward_net.h"

namespace lockstep::fsdp {
namespace {

using testing::AwkwardNet;

constexpr int kSteps = 5;
constexpr int64_t kRows = 3;    // of a micro-batch
constexpr double kClip = 0.05;  // below every norm here

struct Precision {
  const char* words;
  at::ScalarType compute, master, reduce;
};
constexpr Precision kPrecisions[] = {
    {"fp32", at::kFloat, at::kFloat, at::kFloat},
    {"fp32 reduced in bf16", at::kFloat, at::kFloat, at::kBFloat16},
    {"bf16", at::kBFloat16, at::kFloat, at::kFloat},
    {"bf16 reduced in bf16", at::kBFloat16, at::kFloat, at::kBFloat16},
    {"fp64", at::kDouble, at::kDouble, at::kDouble},
};

struct Placement {
  int num_ranks;
  Strategy strategy;
  int shard_size;

  std::string words() const {
    return fmt::format("{} ranks, {}, sharded over {}", num_ranks,
                       strategy == Strategy::kFull ? "full" : "grad_op", shard_size);
  }
};
constexpr Placement kAlone{1, Strategy::kFull, 1};
constexpr Placement kPlacements[] = {
    kAlone,
    {2, Strategy::kFull, 2},
    {2, Strategy::kGradOp, 2},
    {2, Strategy::kFull, 1},
    {4, Strategy::kFull, 4},
    {4, Strategy::kGradOp, 4},
    {4, Strategy::kFull, 1},
    {4, Strategy::kFull, 2},
};

struct Case {
  Precision precision;
  int64_t micro_batches;
  bool by_type;
  int ahead = 0;  // units prefetched and reductions left running

  std::string words() const {
    return fmt::format("{}, {} micro-batches, wrapped by {}, {} ahead", precision.words, micro_batches,
                       by_type ? "type" : "size", ahead);
  }
};

// Everything that must not differ by a bit.
struct Outcome {
  std::vector<double> norms;
  std::vector<std::string> weights;  // bytes, in the order of the parameters

  bool operator==(const Outcome&) const = default;
};

std::string bytes_of(const at::Tensor& values) {
  return {static_cast<const char*>(values.const_data_ptr()), values.nbytes()};
}

Outcome train(comm::Mesh& mesh, const Case& c, Strategy strategy, bool elastic) {
  FsdpOptions options;
  options.strategy = strategy;
  options.wrap = c.by_type ? wrap_by_type({"Block"}) : wrap_by_size(100);
  options.compute = c.precision.compute;
  options.master = c.precision.master;
  options.reduce = c.precision.reduce;
  options.prefetch_units = options.reductions_in_flight = c.ahead;
  options.elastic = elastic;
  auto model = fully_shard(AwkwardNet(c.precision.master), mesh, options);
  optim::AdamW optimizer(model.parameters());
  Outcome outcome;
  for (int step = 0; step < kSteps; ++step) {
    for (int64_t m = mesh.rank(); m < c.micro_batches; m += mesh.world_size()) {
      model.state().set_last_micro_batch(m + mesh.world_size() >= c.micro_batches);
      model->blocks[1]->use_unused = m % 3 == 1;  // on some ranks only
      const at::Tensor tokens = ((at::arange(kRows) + m * kRows) * 5 + step).remainder(11);
      (model(tokens) / (kRows * c.micro_batches)).backward();
    }
    outcome.norms.push_back(model.clip_grad_norm(kClip));
    EXPECT_GT(outcome.norms.back(), kClip) << "clipping must act";
    optimizer.step();
    optimizer.zero_grad();
  }
  for (const auto& name : model.state().parameter_names()) {
    outcome.weights.push_back(bytes_of(model.state().full_parameter(name)));
  }
  return outcome;
}

// Of every case, on rank 0.
std::vector<Outcome> train_all(const Placement& placement, const std::vector<Case>& cases, bool elastic) {
  std::vector<Outcome> outcomes(cases.size());
  comm::run_mesh(placement.num_ranks, placement.shard_size, [&](comm::Mesh& mesh) {
    for (size_t i = 0; i < cases.size(); ++i) {
      const Outcome outcome = train(mesh, cases[i], placement.strategy, elastic);
      if (mesh.rank() == 0) outcomes[i] = outcome;
    }
  });
  return outcomes;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& precision : kPrecisions) {
    cases.push_back({precision, 12, /*by_type=*/true});
    cases.push_back({precision, 12, /*by_type=*/false, /*ahead=*/1});
  }
  for (const bool by_type : {true, false}) cases.push_back({kPrecisions[0], 8, by_type});
  return cases;
}

// The first case with the same precision and micro-batches: what remains must not matter.
size_t first_alike(const std::vector<Case>& cases, const Case& c) {
  size_t i = 0;
  while (cases[i].precision.words != c.precision.words || cases[i].micro_batches != c.micro_batches) ++i;
  return i;
}

TEST(Elastic, WeightsAndNormsHaveTheSameBitsOnEveryMeshAndUnderEveryWrapPolicy) {
  const auto cases = all_cases();
  const auto alone = train_all(kAlone, cases, /*elastic=*/true);
  for (const auto& placement : kPlacements) {
    const auto got = train_all(placement, cases, /*elastic=*/true);
    for (size_t i = 0; i < cases.size(); ++i) {
      EXPECT_TRUE(got[i] == alone[first_alike(cases, cases[i])])
          << placement.words() << ", " << cases[i].words();
    }
  }
}

// Or the test above would show nothing.
TEST(Elastic, WithoutItTheBitsDiffer) {
  const std::vector<Case> cases{{kPrecisions[0], 8, true}};
  EXPECT_FALSE(train_all(kAlone, cases, false) == train_all(kPlacements[4], cases, false));
}

TEST(Elastic, TheGradientIsThereAfterTheLastMicroBatchOnly) {
  comm::run_mesh(2, 2, [](comm::Mesh& mesh) {
    FsdpOptions options;
    options.elastic = true;
    auto model = fully_shard(AwkwardNet(at::kFloat), mesh, options);
    model.state().set_last_micro_batch(false);
    model(at::arange(4)).backward();
    EXPECT_FALSE(model.parameters().front().grad().defined());
    model.state().set_last_micro_batch(true);
    model(at::arange(4)).backward();
    EXPECT_TRUE(model.parameters().front().grad().defined());
  });
}

}  // namespace
}  // namespace lockstep::fsdp
