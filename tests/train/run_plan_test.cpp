#include "lockstep/train/run_plan.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

using testing::HasSubstr;

Recipe recipe() {
  Recipe recipe;
  recipe.name = "tiny";
  return recipe;
}

std::string refusal(const Recipe& recipe, int num_gpus) {
  try {
    plan_run(recipe, num_gpus);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RunPlan, WithoutGpusOneWorkerTrainsOnTheCpuInFloat32) {
  const RunPlan plan = plan_run(recipe(), 0);
  EXPECT_EQ(plan.num_workers, 1);
  EXPECT_FALSE(plan.use_gpu);
  EXPECT_EQ(plan.compute, "fp32");
  EXPECT_EQ(plan.strategy, "none");
  EXPECT_EQ(plan.run_dir, "runs/tiny");
}

TEST(RunPlan, EveryGpuGetsAWorkerAndTheModelIsSharded) {
  const RunPlan plan = plan_run(recipe(), 4);
  EXPECT_EQ(plan.num_workers, 4);
  EXPECT_TRUE(plan.use_gpu);
  EXPECT_EQ(plan.compute, "bf16");
  EXPECT_EQ(plan.strategy, "full");
}

TEST(RunPlan, WhatTheRecipeSaysStands) {
  Recipe wanted = recipe();
  wanted.run.dir = "elsewhere";
  wanted.scaling.num_workers = 2;
  wanted.scaling.use_gpu = false;
  wanted.precision.compute = "fp64";
  wanted.sharding.strategy = "grad_op";
  const RunPlan plan = plan_run(wanted, 8);
  EXPECT_EQ(plan.run_dir, "elsewhere");
  EXPECT_EQ(plan.num_workers, 2);
  EXPECT_FALSE(plan.use_gpu);
  EXPECT_EQ(plan.compute, "fp64");
  EXPECT_EQ(plan.strategy, "grad_op");
}

TEST(RunPlan, MoreWorkersThanGpusAreRefused) {
  Recipe wanted = recipe();
  wanted.scaling.num_workers = 3;
  wanted.scaling.use_gpu = true;
  EXPECT_THAT(refusal(wanted, 2), HasSubstr("scaling.num_workers is 3 but this machine shows 2 GPUs"));
  EXPECT_THAT(refusal(wanted, 2), HasSubstr("Set scaling.num_workers=2"));
  EXPECT_THAT(refusal(wanted, 0), HasSubstr("scaling.use_gpu is true but this machine shows no GPU"));
  EXPECT_EQ(refusal(wanted, 3),
            "train.global_batch is 8 rows, which 3 workers with train.micro_batch 1 cannot share "
            "evenly: it must be a multiple of 3. Set train.global_batch=9");
}

TEST(RunPlan, AccumulationComesOutWhole) {
  Recipe wanted = recipe();
  wanted.train.global_batch = 24;
  wanted.train.micro_batch = 2;
  wanted.scaling.num_workers = 4;
  EXPECT_EQ(plan_run(wanted, 0).accumulation, 3);
  wanted.train.global_batch = 3;  // less than one micro-batch for each
  EXPECT_THAT(refusal(wanted, 0), HasSubstr("Set train.global_batch=8"));
}

TEST(RunPlan, ElasticDeterminismTakesAPowerOfTwoOfWorkers) {
  Recipe wanted = recipe();
  wanted.train.global_batch = 12;
  wanted.determinism = "elastic";
  EXPECT_EQ(plan_run_of(wanted, 4, false).accumulation, 3);
  for (const int found : {3, 6}) {  // GPUs, a worker each
    EXPECT_THAT(refusal(wanted, found), HasSubstr("determinism: elastic")) << found;
    EXPECT_THAT(refusal(wanted, found), HasSubstr(found == 3 ? "num_workers=2" : "num_workers=4")) << found;
  }
}

TEST(RunPlan, ForANumberOfWorkersThatSomebodyElseSettled) {
  Recipe wanted = recipe();
  wanted.scaling.num_workers = 2;
  EXPECT_EQ(plan_run_of(wanted, 4, false).accumulation, 2);
}

}  // namespace
}  // namespace lockstep::train
