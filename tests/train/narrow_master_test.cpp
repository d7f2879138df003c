// Case O03: weights that stay where they are because bfloat16 rounds their updates away.
#include "lockstep/train/narrow_master.h"

#include <c10/util/BFloat16.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/paths.h"
#include "tests/train/saved_state.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::newest_state;
using testing::TinyRun;

// The model's norm weights are 1 to begin with.
std::vector<std::string> settings(const TinyRun& run, const std::string& master) {
  std::ofstream data(run.folder() / "rows.jsonl");
  for (int i = 0; i < 64; ++i)
    data << Json{{"text", "words " + std::string(1 + i % 9, 'a' + i % 20)}} << "\n";
  return {"model.source=" + test_data("models/norms_one_bf16"),
          "model.init=pretrained",
          "data.sources=[{path: " + (run.folder() / "rows.jsonl").string() + "}]",
          "data.held_out=",
          "data.sequence_length=32",
          "train.micro_batch=1",
          "train.global_batch=2",
          "train.steps=100",
          "optimizer.lr=6.0e-4",
          "optimizer.weight_decay=0",
          "schedule.name=constant",
          "schedule.warmup_steps=0",
          "checkpoint.interval_steps=100",
          "precision.master=" + master};
}

TEST(NarrowMaster, MastersInFloat32LetNormsMove) {
  TinyRun run;
  ASSERT_EQ(run.run(settings(run, "fp32")).code, 0) << run.err();
  const auto norm = newest_state(run.dir()).at("weights/model.norm.weight");
  double moved = 0;
  for (const double w : norm) moved = std::max(moved, std::abs(w - 1));
  EXPECT_GT(moved, 0.01);
  EXPECT_TRUE(run.events("warning").empty());
}

TEST(NarrowMaster, MastersInBfloat16KeepThemAndTheRecordWarns) {
  TinyRun run;
  ASSERT_EQ(run.run(settings(run, "bf16")).code, 0) << run.err();
  EXPECT_THAT(newest_state(run.dir()).at("weights/model.norm.weight"), Each(1.0));
  const auto warnings = run.events("warning");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].at("key"), "precision.master");
  EXPECT_THAT(warnings[0].at("message").get<std::string>(),
              HasSubstr("lr 0.0006 is rounded away on every weight above 0.25"));
  EXPECT_THAT(run.out(), HasSubstr("\nwarning: precision.master is bf16: "));
}

// By search: the least power of two from which on a weight does not take the update, either way.
TEST(NarrowMaster, NamesTheWeightsThatDoNotMove) {
  for (const double lr : {1e-5, 6e-4, 1.0 / 1024, 1e-2}) {
    double stuck = 1e-9;
    for (double w = std::exp2(-30); w < 64; w *= 2) {
      const double inner = w * 1.5;  // away from a power of two, where the spacing is the same on both sides
      const auto rounded = [](double x) { return double(c10::BFloat16(static_cast<float>(x))); };
      if (rounded(inner - lr) != inner || rounded(inner + lr) != inner) stuck = 2 * w;
    }
    EXPECT_THAT(*narrow_master_warning(c10::kBFloat16, lr),
                HasSubstr("above " + fmt::format("{:g}", stuck) + " "))
        << lr;
  }
  EXPECT_FALSE(narrow_master_warning(c10::kFloat, 1e-5));
  EXPECT_FALSE(narrow_master_warning(c10::kBFloat16, 0));
}

}  // namespace
}  // namespace lockstep::train
