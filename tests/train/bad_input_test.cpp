// Bad input: one clear line with place, value and way out, the right exit code, nothing left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;
using testing::TinyRun;

std::string file_with(const TinyRun& run, const std::string& name, const std::string& content) {
  const std::string path = run.folder() / name;
  std::ofstream(path) << content;
  return path;
}

// A copy of the tiny model's folder with real weights in it.
std::string trained_model(const TinyRun& run) {
  TinyRun training;
  EXPECT_TRUE(training.run({"train.steps=1"}).success()) << training.err();
  const std::string folder = run.folder() / "model";
  std::filesystem::copy(training.dir() + "/model", folder, std::filesystem::copy_options::recursive);
  return folder;
}

void expect_refused(TinyRun& run, const std::vector<std::string>& arguments, int exit_code,
                    const std::vector<std::string>& words) {
  const ExitStatus status = run.run(arguments);
  const std::string err = run.err();
  EXPECT_EQ(status.code, exit_code) << err;
  for (const auto& word : words) EXPECT_THAT(err, HasSubstr(word));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_FALSE(std::filesystem::exists(run.dir())) << "a run was left behind";
}

TEST(BadInput, UnknownKeyNamesTheNearest) {
  TinyRun run;
  expect_refused(run, {"train.step=3"}, 2, {"train.step", "train.steps"});
}

TEST(BadInput, WrongType) {
  TinyRun run;
  expect_refused(run, {"train.steps=ten"}, 2, {"train.steps", "ten"});
}

TEST(BadInput, MissingDataFile) {
  TinyRun run;
  expect_refused(run, {"data.sources=[{path: nowhere.jsonl}]"}, 2, {"nowhere.jsonl"});
}

TEST(BadInput, BrokenJsonNamesTheLine) {
  TinyRun run;
  const auto path = file_with(run, "broken.jsonl", "{\"text\": \"fine\"}\n{\"text\": \n");
  expect_refused(run, {"data.sources=[{path: " + path + "}]"}, 3, {"broken.jsonl:2"});
}

TEST(BadInput, EmptyData) {
  TinyRun run;
  const auto path = file_with(run, "empty.jsonl", "");
  expect_refused(run, {"data.sources=[{path: " + path + "}]"}, 3, {"empty.jsonl"});
}

TEST(BadInput, TruncatedSafetensors) {
  TinyRun run;
  const auto model = trained_model(run);
  const auto file = model + "/model.safetensors";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 100);
  expect_refused(run, {"model.source=" + model, "model.init=pretrained"}, 2, {"model.safetensors"});
}

TEST(BadInput, ShapesThatDoNotFitTheConfig) {
  TinyRun run;
  const auto model = trained_model(run);
  std::ifstream in(model + "/config.json");
  Json config = Json::parse(in);
  config["vocab_size"] = config["vocab_size"].get<int>() + 1;
  std::ofstream(model + "/config.json") << config;
  expect_refused(run, {"model.source=" + model, "model.init=pretrained"}, 2, {"embed_tokens.weight", "513"});
}

TEST(BadInput, GlobalBatchThatDoesNotDivide) {
  TinyRun run;
  expect_refused(run, {"scaling.num_workers=3"}, 2, {"train.global_batch"});
}

TEST(BadInput, MoreWorkersThanGpus) {
  TinyRun run;
  expect_refused(run, {"scaling.use_gpu=true", "scaling.num_workers=64", "train.global_batch=128"}, 2,
                 {"GPU"});
}

TEST(BadInput, ARunThatExistsIsNotTouched) {
  TinyRun run;
  ASSERT_TRUE(run.run({"train.steps=1"}).success()) << run.err();
  const auto before = std::filesystem::last_write_time(run.dir() + "/record.json");
  EXPECT_EQ(run.run({"train.steps=1"}).code, 2);
  EXPECT_THAT(run.err(), HasSubstr(run.dir()));
  EXPECT_EQ(std::filesystem::last_write_time(run.dir() + "/record.json"), before);
}

}  // namespace
}  // namespace lockstep::train
