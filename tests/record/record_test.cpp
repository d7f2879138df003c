#include "lockstep/record/record.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::record {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Record at_start() {
  return {.started = "2026-01-02T03:04:05.678Z",
          .command = {"lockstep", "train", "tiny.yaml"},
          .recipe = {{"name", "tiny"}, {"train", {{"steps", 20}}}},
          .binary_sha256 = {{"liblockstep.so", "ab12"}},
          .libraries = {{"torch", "2.13.0"}},
          .python_packages = {{"numpy", "2.1.0"}},
          .hosts = {HostFacts{.hostname = "node1", .num_cpus = 2}.to_json()},
          .environment = {{"OMP_NUM_THREADS", "1"}},
          .data_sha256 = {{"text.jsonl", "cd34"}}};
}

class RecordTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  RunDirectory run_ = RunDirectory::create(folder_ / "run", "");
};

TEST_F(RecordTest, IsNotThereBeforeItIsWritten) { EXPECT_EQ(read_record(run_), std::nullopt); }

TEST_F(RecordTest, WhatIsNotKnownYetIsNull) {
  write_record(run_, at_start());
  const Json json = read_record(run_).value();
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["started"], "2026-01-02T03:04:05.678Z");
  EXPECT_TRUE(json["finished"].is_null());
  EXPECT_TRUE(json["commit"].is_null());
  EXPECT_TRUE(json["results"].is_null());
  EXPECT_EQ(json["weights_sha256"], Json::object());
}

TEST_F(RecordTest, HoldsWhatItWasGiven) {
  write_record(run_, at_start());
  const Json json = read_record(run_).value();
  EXPECT_EQ(json["command"], Json({"lockstep", "train", "tiny.yaml"}));
  EXPECT_EQ(json["recipe"]["train"]["steps"], 20);
  EXPECT_EQ(json["libraries"]["torch"], "2.13.0");
  EXPECT_EQ(json["python_packages"]["numpy"], "2.1.0");
  EXPECT_EQ(json["binary_sha256"]["liblockstep.so"], "ab12");
  EXPECT_EQ(json["hosts"][0]["hostname"], "node1");
  EXPECT_EQ(json["environment"]["OMP_NUM_THREADS"], "1");
  EXPECT_EQ(json["data_sha256"]["text.jsonl"], "cd34");
}

TEST_F(RecordTest, TheImagesLockIsAnObjectOfItsOwn) {
  Record record = at_start();
  EXPECT_TRUE(record.to_json()["image_lock"].is_null());
  record.environment["LOCKSTEP_IMAGE_LOCK"] = R"({"version": 1, "image": "r.example/ray@sha256:ab"})";
  const Json json = record.to_json();
  EXPECT_EQ(json["image_lock"]["image"], "r.example/ray@sha256:ab");
  EXPECT_EQ(json["environment"], Json({{"OMP_NUM_THREADS", "1"}}));
  record.environment["LOCKSTEP_IMAGE_LOCK"] = "{cut";
  EXPECT_EQ(record.to_json()["image_lock"], "{cut");
}

TEST_F(RecordTest, IsReplacedWholeAtTheEnd) {
  Record record = at_start();
  write_record(run_, record);
  record.finished = "2026-01-02T03:05:00.000Z";
  record.commit = "0123abc";
  record.weights_sha256 = {{"after", "ef56"}};
  record.results = {{"steps", 20}, {"loss", 1.5}};
  write_record(run_, record);

  const Json json = read_record(run_).value();
  EXPECT_EQ(json["finished"], "2026-01-02T03:05:00.000Z");
  EXPECT_EQ(json["commit"], "0123abc");
  EXPECT_EQ(json["weights_sha256"]["after"], "ef56");
  EXPECT_EQ(json["results"]["loss"], 1.5);
  EXPECT_THAT(read_file(folder_ / "run/record.json"), testing::EndsWith("}\n"));
}

TEST_F(RecordTest, ADamagedFileIsNamed) {
  for (const char* text : {"", "{\"version\":", "[]"}) {
    run_.store().put(std::string(kRecordKey), storage::as_bytes(text));
    EXPECT_THAT([&] { read_record(run_); },
                ThrowsMessage<IoError>(AllOf(HasSubstr("run/record.json"), HasSubstr("not a JSON object"))));
  }
}

}  // namespace
}  // namespace lockstep::record
