// Whole runs: what they leave, that they learn, that they repeat.
#include "tests/train/tiny_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

using ::testing::Each;
using testing::TinyRun;

TEST(TinyExample, LearnsAndLeavesItsRecord) {
  TinyRun run;
  ASSERT_TRUE(run.run().success()) << run.err();

  const auto metrics = run.metrics();
  ASSERT_EQ(metrics.size(), 20);
  EXPECT_NEAR(metrics.front().at("loss").get<double>(), std::log(512.0), 0.3);  // a guess among 512 tokens
  EXPECT_LT(metrics.back().at("loss").get<double>(), 5.5);
  for (const char* key : {"step", "tokens", "tokens_per_s", "grad_norm", "lr", "step_ms", "peak_bytes"}) {
    EXPECT_TRUE(metrics.back().contains(key)) << key;
  }
  const auto evaluations = run.events("evaluation");
  ASSERT_EQ(evaluations.size(), 2);
  EXPECT_LT(evaluations[1].at("loss").get<double>(), evaluations[0].at("loss").get<double>() - 0.5);

  for (const char* file : {"recipe.yaml", "record.json", "logs/g001-rank-000.log", "logs/g001-rank-001.log",
                           "model/config.json", "model/model.safetensors", "model/tokenizer.json"}) {
    EXPECT_TRUE(std::filesystem::exists(run.dir() + "/" + file)) << file;
  }
}

TEST(TinyExample, WithDeterminismRunEndsInTheSameBits) {
  TinyRun first, second;
  ASSERT_TRUE(first.run({"determinism=run"}).success()) << first.err();
  ASSERT_TRUE(second.run({"determinism=run"}).success()) << second.err();
  EXPECT_EQ(first.finished().at("weights_sha256"), second.finished().at("weights_sha256"));
  for (size_t step = 0; step < 20; ++step) {
    EXPECT_EQ(first.metrics()[step].at("loss"), second.metrics()[step].at("loss"));
  }
}

TEST(TinyExample, ComputingLayersAgainChangesNoBit) {
  for (const char* strategy : {"full", "grad_op", "none"}) {
    std::vector<Json> weights;
    for (const char* recompute : {"none", "selective", "block"}) {
      TinyRun run;
      ASSERT_TRUE(run.run({"determinism=run", "train.steps=3", std::string("sharding.strategy=") + strategy,
                           std::string("sharding.recompute=") + recompute})
                      .success())
          << run.err();
      weights.push_back(run.finished().at("weights_sha256"));
    }
    EXPECT_EQ(weights[0], weights[1]) << strategy;
    EXPECT_EQ(weights[0], weights[2]) << strategy;
  }
}

TEST(TinyExample, WithDeterminismElasticAnyNumberOfWorkersEndsInTheSameBits) {
  const std::vector<std::vector<std::string>> placements{
      {"scaling.num_workers=1"},
      {"scaling.num_workers=2"},
      {"scaling.num_workers=4", "sharding.strategy=grad_op", "sharding.wrap.min_parameters=100000"},
      {"scaling.num_workers=4", "sharding.strategy=none"},
  };
  for (const char* precision : {"precision.compute=fp32", "precision.compute=bf16"}) {
    std::vector<Json> weights, steps;
    for (auto arguments : placements) {
      arguments.insert(arguments.end(), {precision, "determinism=elastic", "train.micro_batch=1",
                                         "train.steps=6", "optimizer.max_grad_norm=0.5"});
      TinyRun run;
      ASSERT_TRUE(run.run(arguments).success()) << run.err();
      weights.push_back(run.finished().at("weights_sha256"));
      Json numbers;
      for (const Json& step : run.metrics()) numbers.push_back({step.at("loss"), step.at("grad_norm")});
      steps.push_back(numbers);
    }
    EXPECT_THAT(weights, Each(weights.front())) << precision;
    EXPECT_THAT(steps, Each(steps.front())) << precision;
    EXPECT_GT(steps.front().back().at(1), 0.5) << "clipping must act";
  }
}

TEST(TinyExample, TakesTheSameStepsOnAnyNumberOfWorkers) {
  TinyRun one, two, four;
  const std::vector<std::string> common{"precision.compute=fp64", "train.steps=5", "train.micro_batch=1"};
  const auto with = [&](const char* workers) {
    auto arguments = common;
    arguments.push_back(workers);
    return arguments;
  };
  ASSERT_TRUE(one.run(with("scaling.num_workers=1")).success()) << one.err();
  ASSERT_TRUE(two.run(with("scaling.num_workers=2")).success()) << two.err();
  ASSERT_TRUE(four.run(with("scaling.num_workers=4")).success()) << four.err();
  for (size_t step = 0; step < 5; ++step) {
    const auto want = one.metrics()[step];
    for (const TinyRun* run : {&two, &four}) {
      const auto got = run->metrics()[step];
      EXPECT_EQ(got.at("tokens"), want.at("tokens"));
      EXPECT_NEAR(got.at("loss").get<double>(), want.at("loss").get<double>(), 1e-9);
      EXPECT_NEAR(got.at("grad_norm").get<double>(), want.at("grad_norm").get<double>(), 1e-9);
    }
  }
  EXPECT_EQ(one.events("evaluation")[0].at("tokens"), four.events("evaluation")[0].at("tokens"));
  EXPECT_NEAR(one.events("evaluation")[1].at("loss").get<double>(),
              four.events("evaluation")[1].at("loss").get<double>(), 1e-9);
}

TEST(TinyExample, AStrategyChangesNothingButMemory) {
  TinyRun full;
  const std::vector<std::string> common{"precision.compute=fp64", "train.steps=4"};
  ASSERT_TRUE(full.run(common).success()) << full.err();
  for (const char* strategy : {"sharding.strategy=grad_op", "sharding.strategy=none"}) {
    TinyRun other;
    auto arguments = common;
    arguments.push_back(strategy);
    ASSERT_TRUE(other.run(arguments).success()) << other.err();
    for (size_t step = 0; step < 4; ++step) {
      EXPECT_NEAR(other.metrics()[step].at("loss").get<double>(),
                  full.metrics()[step].at("loss").get<double>(), 1e-9);
    }
  }
}

}  // namespace
}  // namespace lockstep::train
