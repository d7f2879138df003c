// What the driver makes of a run, with workers that follow a script instead of training.
#include "lockstep/train/driver.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "tests/paths.h"

namespace lockstep::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMetrics = R"(0:event={"version":1,"event":"metrics","step":1,"loss":2.5})";

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-driver-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ / "model");
    std::ofstream(folder_ / "recipe.yaml") << "# as given\n" << recipe_text();
  }
  ~DriverTest() override { std::filesystem::remove_all(folder_); }

  std::string recipe_text() const {
    return "name: scripted\nmodel: {source: " + (folder_ / "model").string() +
           ", init: random}\ndata: {source: random}\ntrain: {steps: 3, global_batch: 2}\n"
           "scaling: {num_workers: 2, use_gpu: false}\n";
  }
  std::filesystem::path run_dir() const { return folder_ / "run"; }

  DriverOptions options(const std::vector<std::string>& commands) const {
    DriverOptions options{.recipe_path = folder_ / "recipe.yaml",
                          .overrides = {"run.dir=" + run_dir().string()}};
    options.worker_argv = {build_path("bin/scripted_worker")};
    options.worker_argv.insert(options.worker_argv.end(), commands.begin(), commands.end());
    return options;
  }
  // Runs and keeps what was printed.
  int run(const DriverOptions& options) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int exit_code = run_driver(options);
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return exit_code;
  }
  int run_script(const std::vector<std::string>& commands) { return run(options(commands)); }

  std::string content(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(run_dir() / file).rdbuf();
    return text.str();
  }
  std::vector<Json> driver_events() const {
    std::istringstream lines(content("events/driver-001.jsonl"));
    std::vector<Json> events;
    for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
    return events;
  }

  std::filesystem::path folder_;
  std::string out_, err_;
};

TEST_F(DriverTest, ARunKeepsItsRecipeAndWhatTheDriverSaw) {
  EXPECT_EQ(run_script({kMetrics}), 0);
  EXPECT_EQ(content("recipe.yaml"), "# as given\n" + recipe_text());
  const auto events = driver_events();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0]["event"], "launched");
  EXPECT_EQ(events[0]["plan"]["num_workers"], 2);
  EXPECT_EQ(events[1]["event"], "ended");
  EXPECT_EQ(events[1]["exit_code"], 0);
  EXPECT_THAT(out_, HasSubstr("2 workers on CPU, sharding full, fp32"));
  EXPECT_THAT(out_, HasSubstr("step 1/3  loss 2.5000"));
  EXPECT_THAT(out_, HasSubstr("the run's record is in " + run_dir().string()));
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(DriverTest, ARunThatAWorkerRefusesLeavesOneLineAndNothingElse) {
  EXPECT_EQ(run_script({"1:print=lockstep: error: data.jsonl:3: not JSON", "1:exit=3", "*:wait"}), 3);
  EXPECT_EQ(err_, "lockstep: error: data.jsonl:3: not JSON\n");
  EXPECT_FALSE(std::filesystem::exists(run_dir()));
}

TEST_F(DriverTest, AnEmptyFolderThatWasThereStaysEmpty) {
  std::filesystem::create_directory(run_dir());
  run_script({"*:print=lockstep: error: no", "*:exit=2"});
  EXPECT_TRUE(std::filesystem::is_empty(run_dir()));
}

TEST_F(DriverTest, WhatHasTrainedIsKeptHoweverItEnds) {
  EXPECT_EQ(
      run_script({kMetrics, "1:sleep_ms=200", "1:print=lockstep: error: a later line", "1:exit=3", "*:wait"}),
      3);
  EXPECT_THAT(err_, HasSubstr("lockstep: error: rank 1: a later line (log: " + run_dir().string()));
  const auto events = driver_events();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[1]["event"], "fault");
  EXPECT_EQ(events[1]["rank"], 1);
  EXPECT_EQ(events[1]["exit_code"], 3);
}

TEST_F(DriverTest, ADeathBySignalIsRecordedEvenBeforeTheFirstStep) {
  EXPECT_EQ(run_script({"1:print=last words", "1:kill=9", "*:wait"}), 10);
  EXPECT_THAT(err_, HasSubstr("rank 1 (pid "));
  EXPECT_THAT(err_, HasSubstr("signal 9 (SIGKILL)"));
  EXPECT_THAT(err_, HasSubstr("\n  | last words\n"));
  EXPECT_EQ(driver_events().at(1)["signal"], 9);
}

TEST_F(DriverTest, AsJsonTheDriversEventsStandAmongTheWorkers) {
  DriverOptions wanted = options({kMetrics});
  wanted.json = true;
  EXPECT_EQ(run(wanted), 0);
  std::istringstream lines(out_);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(Json::parse(line)["event"]);
  EXPECT_THAT(names, ElementsAre("launched", "metrics", "ended"));
}

TEST_F(DriverTest, QuietPrintsNothingOfARunThatGoesWell) {
  DriverOptions wanted = options({kMetrics});
  wanted.quiet = true;
  EXPECT_EQ(run(wanted), 0);
  EXPECT_THAT(out_ + err_, IsEmpty());
}

TEST_F(DriverTest, ADryRunMakesNothing) {
  DriverOptions wanted = options({});
  wanted.dry_run = true;
  EXPECT_EQ(run(wanted), 0);
  EXPECT_FALSE(std::filesystem::exists(run_dir()));
  EXPECT_THAT(out_, HasSubstr("# 2 workers on CPU"));
  EXPECT_THAT(out_, HasSubstr("\nname: scripted\n"));
  wanted.json = true;
  run(wanted);
  EXPECT_EQ(Json::parse(out_)["plan"]["strategy"], "full");
}

TEST_F(DriverTest, ARunThatIsThereIsContinuedInFilesOfItsOwn) {
  EXPECT_EQ(run_script({kMetrics}), 0);
  const std::string events = content("events/driver-001.jsonl");
  EXPECT_EQ(run(options({kMetrics})), 0);
  EXPECT_THAT(out_, HasSubstr("continuing the run in "));
  EXPECT_EQ(content("events/driver-001.jsonl"), events);
  EXPECT_THAT(content("events/driver-002.jsonl"), HasSubstr("\"generation\":2"));
  EXPECT_TRUE(std::filesystem::exists(run_dir() / "logs/g002-rank-001.log"));
}

TEST_F(DriverTest, AWorkerThatCannotStartLeavesNoRun) {
  DriverOptions wanted = options({});
  wanted.worker_argv[0] = folder_ / "no-such-program";
  EXPECT_THROW(run_driver(wanted), CommandError);
  EXPECT_FALSE(std::filesystem::exists(run_dir()));
}

}  // namespace
}  // namespace lockstep::train
