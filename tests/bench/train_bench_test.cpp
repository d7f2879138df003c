#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/process.h"
#include "lockstep/bench/train_report.h"
#include "tests/base/refusal.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep::bench {
namespace {

using testing::HasSubstr;

TEST(TrainBench, CountsTheOperationsOfProductsAndCausalAttention) {
  const auto spec = models::ModelSpec::load(source_path("bench/qwen2.5-1.5b"));
  // 28 layers of 1536 x (2 x 1536 + 2 x 256) + 3 x 1536 x 8960 weights, the head's 1536 x 151936.
  const double weights = 28.0 * (5505024 + 41287680) + 233373696;
  EXPECT_DOUBLE_EQ(flops_per_token(spec, 2048), 6 * weights + 6.0 * 28 * 1536 * 2048);
}

TEST(TrainBench, WhatCannotBeTimedIsRefusedByName) {
  const auto refusal = [](const std::function<void(TrainOptions&)>& change) -> std::string {
    TrainOptions options;
    change(options);
    return refusal_of([&] { options.validate(); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "accepted");
  EXPECT_EQ(refusal([](auto& options) { options.batch = 0; }),
            "bench: --batch is 0: it takes a number from 1 on");
  EXPECT_THAT(refusal([](auto& options) { options.sequence_length = 1; }), HasSubstr("--seq is 1"));
  EXPECT_THAT(refusal([](auto& options) { options.steps = 0; }), HasSubstr("--steps"));
  EXPECT_THAT(refusal([](auto& options) { options.warmup = -1; }), HasSubstr("--warmup"));
  EXPECT_THAT(refusal([](auto& options) { options.floor_ms = 0; }), HasSubstr("--floor"));
}

TEST(TrainBench, TellsWhatPowerAStepTook) {
  TrainReport report;
  report.step_ms = {85};
  EXPECT_THAT(to_text(report), testing::Not(HasSubstr("power")));
  EXPECT_TRUE(to_json(report).at("power").is_null());
  report.power = PowerUse{693, 700, 1500, 1980, {"power limit", "heat"}};
  EXPECT_THAT(to_text(report), HasSubstr("power            693 of 700 W, 58.9 J a step; clock 1500 of 1980 "
                                         "MHz, held by: power limit, heat"));
  EXPECT_NEAR(to_json(report).at("power").at("joules_per_step").get<double>(), 58.905, 1e-9);
  report.power->held_by.clear();
  EXPECT_THAT(to_text(report), HasSubstr("of 1980 MHz\n"));
}

struct Finished {
  int exit_code = 0;
  std::string out, err;
};

Finished run(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  ProcessOptions options{.argv = {build_path("bin/lockstep"), "bench", "train", "--batch", "2", "--seq", "16",
                                  "--steps", "2", "--warmup", "1", "scaling.use_gpu=false"},
                         .standard_output = Output::file(folder / "out"),
                         .standard_error = Output::file(folder / "err")};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  const int code = Process::start(options).wait().shell_code();
  return {code, read_file(folder / "out"), read_file(folder / "err")};
}

TEST(TrainBench, TimesStepsOfShardedWorkers) {
  const auto finished = run({"--model", source_path("examples/tiny/model"), "--num-workers", "2", "--json",
                             "train.global_batch=8", "determinism=run"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json report = Json::parse(finished.out);
  EXPECT_EQ(report.at("steps_ms").size(), 2);
  EXPECT_EQ(report.at("accumulation"), 2);
  EXPECT_EQ(report.at("tokens_per_step"), 8 * 16);
  EXPECT_EQ(report.at("strategy"), "full");
  EXPECT_EQ(report.at("determinism"), "run");
  EXPECT_NEAR(report.at("loss").get<double>(), std::log(512), 0.5);  // random weights know nothing
}

TEST(TrainBench, OneWorkerStandsForARankOfMany) {
  const auto finished = run({"--model", source_path("examples/tiny/model"), "--stand-for", "8", "--json",
                             "sharding.strategy=full", "sharding.wrap.min_parameters=20000"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json report = Json::parse(finished.out);
  EXPECT_EQ(report.at("stand_for"), 8);
  EXPECT_EQ(report.at("strategy"), "full");
  EXPECT_EQ(report.at("accumulation"), 1);
  const auto refused =
      run({"--model", source_path("examples/tiny/model"), "--stand-for", "8", "--num-workers", "2"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--stand-for 8 beside --num-workers 2"));
}

TEST(TrainBench, WritesATraceOfOneMoreStep) {
  const TemporaryFolder folder;
  const auto finished = run({"--model", source_path("examples/tiny/model"), "--trace", folder / "step.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_FALSE(Json::parse(read_file(folder / "step.json")).at("traceEvents").empty());
  const auto refused = run({"--model", source_path("examples/tiny/model"), "--trace", "/nowhere/step.json"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("/nowhere/step.json"));
}

TEST(TrainBench, AModelThatCannotBeReadIsNamed) {
  const auto finished = run({"--model", "/nowhere"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace lockstep::bench
