// Checkpoints in a bucket: the real program against a real S3 server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "lockstep/storage/object_store.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"
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

// A model whose shards travel in two parts: 15 MB each, where one part takes 10 MiB.
class LargeShards : public ObjectStorage {
 protected:
  // `fate`: of the second part of what the second save uploads (s3_server.py).
  void start_server(const std::string& file, const std::string& fate) {
    server_.emplace(
        std::vector<std::string>{"--part", "2", "--of", "step-00000004.g001/" + file, "--fate", fate});
  }

  std::vector<std::string> settings(const TinyRun& run) const {
    const std::filesystem::path model = run.folder() / "model";
    std::filesystem::copy(source_path("examples/tiny/model"), model);
    Json config = Json::parse(read_file(model / "config.json"));
    config.update({{"hidden_size", 256}, {"head_dim", 64}, {"intermediate_size", 1280}});
    std::ofstream(model / "config.json") << config;
    return {"model.source=" + model.string(), "determinism=run", "checkpoint.interval_steps=2",
            "train.steps=8", "data.held_out="};
  }
  // The same run, with its checkpoints on the disk and nothing in its way.
  void run_undisturbed() { ASSERT_EQ(local_.run(settings(local_)).code, 0) << local_.err(); }
  void expect_the_same_bits(int generation) const {
    EXPECT_EQ(run_.finished(generation).at("weights_sha256"), local_.finished().at("weights_sha256"));
    EXPECT_EQ(newest_hashes(place()), newest_hashes(local_.dir()));
    for (const auto& key : storage::open_store(place())->list("")) {
      EXPECT_THAT(key, ::testing::Not(HasSubstr("step-00000004.g001")));
    }
  }

  TinyRun local_;
};

TEST_F(LargeShards, AWorkerThatIsKilledInMidUploadLeavesNothingAndTheSaveBeforeCounts) {
  run_undisturbed();
  start_server("shard-00001", "hold");
  auto wanted = settings(run_);
  wanted.insert(wanted.end(), {"checkpoint.storage=" + server_->location("runs"), "failure.max_failures=1"});
  Process driver = run_.start(wanted);
  while (server_->output().find("holds ") == std::string::npos) {
    ASSERT_FALSE(driver.poll()) << run_.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(workers_of(driver.pid()).at(1), SIGKILL);  // rank 1, whose upload is held

  EXPECT_EQ(driver.wait().code, 0) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("SIGKILL"));
  EXPECT_EQ(run_.events("restored", 2).at(0).at("step"), 2);
  expect_the_same_bits(2);
}

TEST_F(LargeShards, AnUploadThatIsRefusedInTheMiddleCostsItsSaveAndNothingElse) {
  run_undisturbed();
  start_server("shard-00001", "deny");
  auto wanted = settings(run_);
  wanted.insert(wanted.end(), {"checkpoint.storage=" + server_->location("runs"), "checkpoint.keep_last=9"});
  EXPECT_EQ(run_.run(wanted).code, 0) << run_.err();

  const auto failures = run_.events("checkpoint_failed");
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].at("step"), 4);
  EXPECT_THAT(failures[0].at("reason").get<std::string>(), HasSubstr("ACCESS_DENIED"));
  EXPECT_THAT(checkpoint_steps(place()), ElementsAre(8, 6, 2));
  EXPECT_EQ(run_.metrics().size(), 8u);
  expect_the_same_bits(1);
}

TEST_F(ObjectStorage, ABucketThatIsNotThereEndsTheRunBeforeItTrains) {
  const std::string nowhere = server_->location("x").replace(5, 6, "nobody");
  EXPECT_EQ(run_.run(in_the_bucket({"checkpoint.storage=" + nowhere})).code, 7) << run_.err();
  EXPECT_THAT(run_.err(), HasSubstr("nobody"));
}

}  // namespace
}  // namespace lockstep::train
