#include "lockstep/cluster/image/image_lock.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/cluster/node_checks.h"
#include "made_up_node.h"

namespace lockstep::cluster {
namespace {

using testing::HasSubstr;

ImageLock load(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "lock.json") << text;
  return ImageLock::load(folder / "lock.json");
}

std::string refusal(const std::string& text) {
  try {
    load(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

const std::map<std::string, std::string> kFound = {{"nccl", "2.28.9"}, {"libfabric", "2.1"}};

TEST(ImageLock, IsReadAsWritten) {
  const ImageLock lock = load(R"({"version": 1, "image": "x@sha256:1", "libraries": {"nccl": "2.28.9"}})");
  EXPECT_EQ(lock.image, "x@sha256:1");
  EXPECT_EQ(lock.libraries.at("nccl"), "2.28.9");
}

TEST(ImageLock, WhatIsNoLockIsRefusedByName) {
  EXPECT_THAT(refusal("[]"), HasSubstr("no mapping"));
  EXPECT_THAT(refusal("version: 1\nimage: ]"), HasSubstr("not valid YAML"));
  EXPECT_THAT(refusal(R"({"libraries": {}})"), HasSubstr("\"version\" is not 1"));
  EXPECT_THAT(refusal(R"({"version": 1, "libraries": {"ncll": "2"}})"),
              HasSubstr("no library \"ncll\" is known"));
  EXPECT_THAT(refusal(R"({"version": 1, "libraries": {"nccl": 2}})"),
              HasSubstr("the version of nccl is no text"));
  EXPECT_THAT(refusal("version: 1\nlibraries:\n  nccl: 2.28\n"), HasSubstr("put it in quotes"));
  EXPECT_THAT(refusal(R"({"version": 1, "digest": "x"})"), HasSubstr("\"digest\" is no key"));
  EXPECT_THROW(ImageLock::load("/no/such/lock"), ConfigError);
}

TEST(ImageLock, WhatIsSavedIsReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "images/ray.lock.yaml";
  const ImageLock saved = {.image = "r.example/ray@sha256:" + std::string(64, 'a'),
                           .tag = "1.0",  // which YAML would read as a number
                           .locked = "2026-01-02T03:04:05.678Z",
                           .platform = "linux/amd64",
                           .manifest = "sha256:" + std::string(64, 'b'),
                           .config = "sha256:" + std::string(64, 'c'),
                           .created = "2026-01-01T00:00:00Z",
                           .components = {{"cuda", "13.0"}, {"nccl", ""}},
                           .libraries = {{"nccl", "2.28"}}};
  saved.save(path);
  EXPECT_THAT(read_file(path), HasSubstr("nccl: not stated"));
  const ImageLock read = ImageLock::load(path);
  EXPECT_EQ(read.to_json(), saved.to_json());
  EXPECT_EQ(read.tag, "1.0");
  EXPECT_EQ(read.components.at("nccl"), "");
  EXPECT_EQ(read.libraries.at("nccl"), "2.28");
  EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
}

ImageMeasurement measurement(const std::string& image) {
  return {.image = image,
          .measured = "2026-01-02T03:04:05.678Z",
          .doctor = {.ok = 22, .faults = {"driver"}, .unknown = {"network-plugin"}},
          .transport = "efa",
          .evidence = "connected",
          .ranks = 8,
          .all_reduce_bytes = 1 << 30,
          .bus_bandwidth = 11.5,
          .step_ms = 812.25,
          .tokens_per_s = 80000,
          .losses = {2.5, 1.125, 1e-7}};
}

TEST(ImageLock, WhyItWasAcceptedIsReadBack) {
  const TemporaryFolder folder;
  ImageLock saved{.image = "r.example/ray@sha256:" + std::string(64, 'a')};
  saved.accepted =
      Acceptance{{.slower_percent = 5, .loss_percent = 0.5}, measurement("old"), measurement("new")};
  saved.save(folder / "lock.yaml");
  const ImageLock read = ImageLock::load(folder / "lock.yaml");
  EXPECT_EQ(read.to_json(), saved.to_json());
  EXPECT_EQ(read.accepted->before.losses, saved.accepted->before.losses);
  EXPECT_EQ(read.accepted->after.doctor.faults, saved.accepted->after.doctor.faults);
  EXPECT_THAT(refusal(R"({"version": 1, "accepted": {"slower_percent": 5}})"),
              HasSubstr("\"accepted\" is not what `lockstep image update --accept` writes"));
  EXPECT_THAT(refusal(R"({"version": 1, "accepted": 5})"), HasSubstr("\"accepted\" is no key"));
}

TEST(ImageLock, AFolderThatCannotBeMadeIsSaid) {
  const TemporaryFolder folder;
  std::ofstream(folder / "images") << "a file";
  EXPECT_THROW(ImageLock().save(folder / "images/ray.lock.yaml"), IoError);
}

TEST(ImageLock, VersionsMatchByWholeNumbers) {
  EXPECT_TRUE(version_matches("2.28.9", "2.28.9"));
  EXPECT_TRUE(version_matches("2.28", "2.28.9"));
  EXPECT_FALSE(version_matches("2.2", "2.28.9"));
  EXPECT_FALSE(version_matches("2.28.9", "2.28"));
}

TEST(LockCheck, NamesEachLibraryThatDiffers) {
  const MadeUpNode made;
  EXPECT_THAT(check_lock(made.node, kFound, std::nullopt).saw, HasSubstr("no lock file was given"));
  const Check same = check_lock(made.node, kFound, ImageLock{.libraries = {{"nccl", "2.28"}}});
  EXPECT_EQ(same.state, CheckState::kGood);
  EXPECT_EQ(same.saw, "1 library as locked");
  const Check other = check_lock(made.node, kFound,
                                 ImageLock{.libraries = {{"aws-ofi-nccl", "1.18.0"}, {"libfabric", "2.3"}}});
  EXPECT_EQ(other.state, CheckState::kFault);
  EXPECT_EQ(other.saw, "aws-ofi-nccl is not found, locked is 1.18.0; libfabric is 2.1, locked is 2.3");
}

TEST(LockCheck, TheImageIsKnownWhereWhoStartsTheContainerTellsIt) {
  MadeUpNode made;
  const ImageLock lock = {.image = "x@sha256:1"};
  EXPECT_THAT(check_lock(made.node, kFound, lock).saw, HasSubstr("LOCKSTEP_IMAGE is not set"));
  EXPECT_EQ(check_lock(made.node, kFound, lock).state, CheckState::kGood);
  made.node.environment["LOCKSTEP_IMAGE"] = "x@sha256:2";
  EXPECT_EQ(check_lock(made.node, kFound, lock).state, CheckState::kFault);
}

TEST(VersionsCheck, SaysWhichWereNotFound) {
  const Check check = check_versions(kFound);
  EXPECT_EQ(check.saw,
            "lockstep not found, driver not found, nccl 2.28.9, libfabric 2.1, aws-ofi-nccl not found");
}

}  // namespace
}  // namespace lockstep::cluster
