// `lockstep checkpoints` and `lockstep replay` on the runs of the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/paths.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;
using testing::TinyRun;

class Inspecting : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_.run({"determinism=run", "checkpoint.interval_steps=4", "train.stop_after=10"}).code, 0)
        << run_.err();
  }

  // `lockstep ARGUMENTS`; its standard output is `out`.
  int lockstep(std::vector<std::string> arguments) {
    ProcessOptions options;
    options.argv = {build_path("bin/lockstep")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    std::filesystem::remove(run_.folder() / "inspected");
    options.standard_output = Output::file(run_.folder() / "inspected");
    options.standard_error = Output::with_stdout();
    const int code = Process::start(options).wait().code;
    std::ifstream file(run_.folder() / "inspected");
    out_.assign(std::istreambuf_iterator<char>(file), {});
    return code;
  }

  void flip_a_bit(const std::string& file) const {
    std::fstream bytes(run_.dir() + "/checkpoints/" + file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(1000);
    const char byte = static_cast<char>(bytes.get() ^ 4);
    bytes.seekp(1000);
    bytes.put(byte);
  }

  TinyRun run_;
  std::string out_;
};

TEST_F(Inspecting, ListHasEveryCheckpointNewestFirst) {
  EXPECT_EQ(lockstep({"checkpoints", "list", run_.dir(), "--json"}), 0) << out_;
  const Json rows = Json::parse(out_);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("step"), 10);
  EXPECT_EQ(rows[1].at("step"), 8);
  EXPECT_EQ(rows[0].at("status"), "committed");
  EXPECT_EQ(rows[0].at("ranks"), 2);
  EXPECT_EQ(lockstep({"checkpoints", "list", run_.dir()}), 0);
  EXPECT_THAT(out_, HasSubstr("step-00000010.g001  committed  1.37 MiB"));
}

TEST_F(Inspecting, VerifyNamesTheFileThatWasChanged) {
  EXPECT_EQ(lockstep({"checkpoints", "verify", run_.dir()}), 0) << out_;
  flip_a_bit("step-00000008.g001/shard-00001.safetensors");
  EXPECT_EQ(lockstep({"checkpoints", "verify", run_.dir()}), 7);
  EXPECT_THAT(out_, HasSubstr("step-00000010.g001  whole"));
  EXPECT_THAT(out_, HasSubstr("step-00000008.g001/shard-00001.safetensors was changed"));
  EXPECT_EQ(lockstep({"checkpoints", "verify", run_.dir(), "--step", "10"}), 0) << out_;
  EXPECT_EQ(lockstep({"checkpoints", "verify", run_.dir(), "--step", "9"}), 2);
  EXPECT_THAT(out_, HasSubstr("no checkpoint of step 9"));
}

TEST_F(Inspecting, ShowSaysWhatIsInIt) {
  EXPECT_EQ(lockstep({"checkpoints", "show", run_.dir(), "--json"}), 0) << out_;
  const Json shown = Json::parse(out_);
  EXPECT_EQ(shown.at("identity").at("optimizer.lr"), 0.01);
  EXPECT_EQ(shown.at("state").at("rows"), 80);
  EXPECT_EQ(shown.at("tensors").at("exp_avg/model.norm.weight").at("dtype"), "F32");
  EXPECT_EQ(lockstep({"checkpoints", "show", run_.folder()}), 2);
  EXPECT_THAT(out_, HasSubstr("is not a run's folder"));
}

TEST_F(Inspecting, ReplayFindsTheSameBits) {
  EXPECT_EQ(lockstep({"replay", run_.dir(), "--step", "10"}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("step 10 again, from the checkpoint of step 8:"));
  EXPECT_THAT(out_, HasSubstr("sha256     equal"));
  EXPECT_EQ(lockstep({"replay", run_.dir(), "--step", "3"}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("from the beginning"));
  EXPECT_EQ(lockstep({"replay", run_.dir(), "--step", "11"}), 2);
  EXPECT_THAT(out_, HasSubstr("has not done step 11"));
}

TEST_F(Inspecting, ReplayShowsAMetricThatIsNotTheRuns) {
  const std::string path = run_.dir() + "/metrics/g001.jsonl";
  std::ifstream file(path);
  std::string changed;
  for (std::string line; std::getline(file, line);) {
    Json values = Json::parse(line);
    if (values.at("step") == 9) values["loss"] = 1.0;
    changed += values.dump() + "\n";
  }
  std::ofstream(path) << changed;
  EXPECT_EQ(lockstep({"replay", run_.dir(), "--step", "9"}), 6);
  EXPECT_THAT(out_, HasSubstr("loss       DIFFERS  1.0 was recorded, 5.2"));
  EXPECT_THAT(out_, HasSubstr("grad_norm  equal"));
}

}  // namespace
}  // namespace lockstep::train
