// Checkpoints in a bucket: the real program against a real S3 server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <optional>

#include "tests/storage/s3_server.h"
#include "tests/train/saved_state.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using storage::S3Server;
using testing::checkpoint_steps;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::newest_hashes;
using testing::TinyRun;
using testing::workers_of;

const std::vector<std::string> kSettings = {"determinism=run", "checkpoint.interval_steps=3",
                                            "train.steps=16"};

class ObjectStorage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!S3Server::is_installed()) GTEST_SKIP() << "no S3 server here: scripts/setup --s3 installs it";
    server_.emplace();
    storage::use_access_key("test");
  }

  std::vector<std::string> in_the_bucket(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> settings = kSettings;
    settings.push_back("checkpoint.storage=" + server_->location("runs"));
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }
  std::string place() const { return server_->location("runs/tiny"); }

  std::optional<S3Server> server_;
  TinyRun run_;
};

TEST_F(ObjectStorage, ARunContinuesFromTheBucketWithTheSameBits) {
  TinyRun local;
  ASSERT_EQ(local.run(kSettings).code, 0) << local.err();
  EXPECT_EQ(run_.run(in_the_bucket({"train.stop_after=7"})).code, 0) << run_.err();
  EXPECT_THAT(checkpoint_steps(place()), ElementsAre(7, 6));  // 3 was removed after 7 was committed
  EXPECT_FALSE(std::filesystem::exists(run_.dir() + "/checkpoints"));
  EXPECT_EQ(run_.run(in_the_bucket()).code, 0) << run_.err();
  EXPECT_EQ(run_.events("restored", 2).at(0).at("step"), 7);
  EXPECT_EQ(run_.finished(2).at("weights_sha256"), local.finished().at("weights_sha256"));
  EXPECT_EQ(newest_hashes(place()), newest_hashes(local.dir()));
}

TEST_F(ObjectStorage, KilledWorkersAreStartedAgainFromTheBucket) {
  TinyRun local;
  ASSERT_EQ(local.run(kSettings).code, 0) << local.err();
  Process driver = run_.start(in_the_bucket({"failure.max_failures=1"}));
  run_.wait_for_steps(7);
  for (const pid_t worker : workers_of(driver.pid())) kill(worker, SIGKILL);
  EXPECT_EQ(driver.wait().code, 0) << run_.err();
  EXPECT_EQ(run_.finished(2).at("weights_sha256"), local.finished().at("weights_sha256"));
}

TEST_F(ObjectStorage, ABucketThatIsNotThereEndsTheRunBeforeItTrains) {
  const std::string nowhere = server_->location("x").replace(5, 6, "nobody");
  EXPECT_EQ(run_.run(in_the_bucket({"checkpoint.storage=" + nowhere})).code, 7) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("nobody"));
}

}  // namespace
}  // namespace lockstep::train
