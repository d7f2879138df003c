#include "lockstep/cluster/job_package.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/process.h"
#include "lockstep/cluster/job_environment.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::cluster {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Package : public testing::Test {
 protected:
  Package() {
    write("made/package.json", R"({"version": 1, "torch_version": "2.13.0"})");
    write("made/bin/lockstep", "a program", /*is_executable=*/true);
    write("made/lib/liblockstep.so", "a library");
    write("made/lockstep_ray/__main__.py", "print()");
    write("made/lockstep_ray/__pycache__/main.pyc", "stale");
    write("my_train", "another program", /*is_executable=*/true);
  }

  void write(const std::string& name, const std::string& text, bool is_executable = false) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    if (is_executable) fs::permissions(path, fs::perms(0755));
  }

  JobPackageOptions options() const {
    return {.folder = folder_ / "made",
            .recipe = "name: x\n",
            .overrides = {"train.steps=5"},
            .from = "latest",
            .program = ""};
  }

  // As the nodes see it: unpacked by another program than ours.
  std::string unpacked(const JobPackage& package) {
    std::ofstream(folder_ / "package.zip", std::ios::binary) << package_bytes(package);
    const std::string to = folder_ / "unpacked";
    auto unzip = Process::start({.argv = {"unzip", "-q", "-o", folder_ / "package.zip", "-d", to}});
    EXPECT_EQ(unzip.wait().shell_code(), 0);
    return to;
  }

  TemporaryFolder folder_;
};

TEST_F(Package, HoldsProgramsRecipeAndJobWithTheirModes) {
  const std::string to = unpacked(make_job_package(options()));
  EXPECT_EQ(read_file(to + "/bin/lockstep"), "a program");
  EXPECT_EQ(::access((to + "/bin/lockstep").c_str(), X_OK), 0);
  EXPECT_EQ(fs::status(to + "/lib/liblockstep.so").permissions(), fs::perms(0644));
  EXPECT_EQ(read_file(to + "/recipe.yaml"), "name: x\n");
  EXPECT_FALSE(fs::exists(to + "/lockstep_ray/__pycache__"));
  const Json job = Json::parse(read_file(to + "/job.json"));
  EXPECT_EQ(job, Json::parse(R"({"version": 1, "program": "bin/lockstep",
                                 "arguments": ["train", "recipe.yaml", "train.steps=5"], "recipe": "recipe.yaml",
                                 "overrides": ["train.steps=5"], "from": "latest", "torch_version": "2.13.0"})"));
}

TEST_F(Package, AUsersProgramTakesThePlaceOfTrain) {
  JobPackageOptions with_program = options();
  with_program.program = folder_ / "my_train";
  const std::string to = unpacked(make_job_package(with_program));
  EXPECT_EQ(read_file(to + "/bin/my_train"), "another program");
  const Json job = Json::parse(read_file(to + "/job.json"));
  EXPECT_EQ(job.at("program"), "bin/my_train");
  EXPECT_EQ(job.at("arguments"), Json::array({"recipe.yaml", "train.steps=5"}));
}

TEST_F(Package, IsNamedForItsContentAlone) {
  const std::string name = make_job_package(options()).name;
  EXPECT_THAT(name, testing::MatchesRegex("_ray_pkg_[0-9a-f]{32}\\.zip"));
  write("made/lib/liblockstep.so", "a library");
  EXPECT_EQ(make_job_package(options()).name, name);
  JobPackageOptions other = options();
  other.recipe = "name: y\n";
  EXPECT_NE(make_job_package(other).name, name);
  write("made/lib/liblockstep.so", "a newer library");
  EXPECT_NE(make_job_package(options()).name, name);
}

TEST_F(Package, WhatIsNoPackageOrNoProgramIsRefused) {
  EXPECT_THAT([&] { find_package_folder(folder_.path()); },
              ThrowsMessage<ConfigError>(HasSubstr("no folder that deploy/package made")));
  EXPECT_EQ(find_package_folder(folder_ / "made"), folder_ / "made");
  JobPackageOptions bad = options();
  bad.program = folder_ / "made/lib/liblockstep.so";
  EXPECT_THAT([&] { make_job_package(bad); },
              ThrowsMessage<ConfigError>(HasSubstr("no program that could be run")));
  write("made/package.json", "{}");
  EXPECT_THAT([&] { make_job_package(options()); }, ThrowsMessage<ConfigError>(HasSubstr("make it again")));
}

TEST(JobEnvironment, TheImagesLockGoesWithTheJob) {
  const Json environment = job_runtime_env("x.zip", nullptr, {{"version", 1}});
  EXPECT_EQ(environment.at("env_vars").at("LOCKSTEP_IMAGE_LOCK"), R"({"version":1})");
  EXPECT_FALSE(job_runtime_env("x.zip", nullptr).at("env_vars").contains("LOCKSTEP_IMAGE_LOCK"));
}

TEST(JobEnvironment, TheRecipesWordsStandBesideOursAndItsVariablesWin) {
  const Json environment = job_runtime_env(
      "x.zip", {{"pip", {"wandb"}}, {"env_vars", {{"RAY_DEDUP_LOGS", 1}, {"NCCL_DEBUG", "INFO"}}}});
  EXPECT_EQ(environment.at("working_dir"), "gcs://x.zip");
  EXPECT_EQ(environment.at("pip"), Json::array({"wandb"}));
  EXPECT_EQ(environment.at("env_vars").at("RAY_DEDUP_LOGS"), "1");
  EXPECT_EQ(environment.at("env_vars").at("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(environment.at("env_vars").at("RAY_JOB_STOP_WAIT_TIME_S"), "120");
  EXPECT_THAT(
      [] {
        job_runtime_env("x.zip", {{"working_dir", "."}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("working_dir")));
  EXPECT_THAT(
      [] {
        job_runtime_env("x.zip", {{"env_vars", 3}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("mapping")));
}

}  // namespace
}  // namespace lockstep::cluster
