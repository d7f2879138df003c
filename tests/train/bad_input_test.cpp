// Bad input: one clear line with place, value and way out, the right exit code, nothing left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

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

TEST(BadInput, NoModelSource) {
  TinyRun run;
  expect_refused(run, {"model.source=", "model.init="}, 2, {"model.source is not set"});
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

TEST(BadInput, APortInUseIsNamed) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  socklen_t length = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string port = std::to_string(ntohs(address.sin_port));

  TinyRun run;
  ProcessOptions options = run.options({});
  options.environment = {{"RANK", "0"},
                         {"WORLD_SIZE", "2"},
                         {"LOCAL_RANK", "0"},
                         {"LOCAL_WORLD_SIZE", "2"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", port}};
  const ExitStatus status = Process::start(options).wait();
  close(listener);
  EXPECT_EQ(status.code, 2);
  EXPECT_THAT(run.err(), HasSubstr("cannot listen on port " + port));
  EXPECT_FALSE(std::filesystem::exists(run.dir())) << "a run was left behind";
}

// A file system of one megabyte, while it lives. Needs the right to mount.
class TinyDisk {
 public:
  explicit TinyDisk(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~TinyDisk() {
    if (mounted_) umount(path_.c_str());
  }
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_;
};

TEST(BadInput, AFullDiskIsAStorageFailureThatNamesTheFile) {
  TinyRun run;
  const TinyDisk disk(run.folder() / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small file system";
  // The fine-tuned model, about half a megabyte, no longer fits beside this.
  std::ofstream(run.folder() / "disk/ballast") << std::string(700'000, 'x');
  const ExitStatus status = run.run({"run.dir=" + (run.folder() / "disk/run").string(), "train.steps=1",
                                     "checkpoint.storage=" + (run.folder() / "elsewhere").string()});
  EXPECT_EQ(status.code, 7) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("No space left on device"));
  EXPECT_FALSE(std::filesystem::exists(run.folder() / "disk/run/model")) << "half a model was left";
}

TEST(BadInput, NoRoomForTwoCheckpointsIsSaidBeforeTraining) {
  TinyRun run;
  const TinyDisk disk(run.folder() / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small file system";
  EXPECT_EQ(run.run({"checkpoint.storage=" + (run.folder() / "disk").string()}).code, 7);
  EXPECT_THAT(run.err(), HasSubstr("two checkpoints take 2.73 MiB"));
  EXPECT_TRUE(run.metrics().empty());
  EXPECT_FALSE(std::filesystem::exists(run.folder() / "disk/tiny/storage-check")) << "the probe was left";
}

TEST(BadInput, ARunThatIsFinishedIsNotTouched) {
  TinyRun run;
  ASSERT_TRUE(run.run({"train.steps=1"}).success()) << run.err();
  const auto before = std::filesystem::last_write_time(run.dir() + "/record.json");
  EXPECT_EQ(run.run({"train.steps=1"}).code, 2);
  EXPECT_THAT(run.err(), HasSubstr(run.dir()));
  EXPECT_EQ(std::filesystem::last_write_time(run.dir() + "/record.json"), before);
}

}  // namespace
}  // namespace lockstep::train
