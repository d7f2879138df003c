#include "lockstep/storage/local_store.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/storage/get_text.h"

namespace lockstep::storage {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class LocalStoreTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::unique_ptr<ObjectStore> store_ = open_store(folder_ / "run");
};

TEST_F(LocalStoreTest, PutMakesFoldersAndGetReturnsTheSameBytes) {
  const std::string value("a\0b\n\xff", 5);
  store_->put("checkpoints/step-1/shard", as_bytes(value));
  EXPECT_EQ(get_text(*store_, "checkpoints/step-1/shard"), value);
  EXPECT_EQ(read_file(folder_ / "run/checkpoints/step-1/shard"), value);
}

TEST_F(LocalStoreTest, PutReplacesAndLeavesNothingElseBehind) {
  store_->put("record.json", as_bytes("a long old value"));
  store_->put("record.json", as_bytes("new"));
  EXPECT_EQ(get_text(*store_, "record.json"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "run"), {}), 1);
}

TEST_F(LocalStoreTest, GetOfWhatIsNotThereIsNothing) {
  EXPECT_EQ(store_->get("absent"), std::nullopt);
  store_->put("folder/file", as_bytes("x"));
  EXPECT_EQ(store_->get("folder"), std::nullopt);
  EXPECT_EQ(store_->get("folder/file/below"), std::nullopt);
}

TEST_F(LocalStoreTest, GetOfARangeStopsAtTheEnd) {
  store_->put("value", as_bytes("0123456789"));
  EXPECT_EQ(get_text(*store_, "value", {.offset = 3, .length = 4}), "3456");
  EXPECT_EQ(get_text(*store_, "value", {.offset = 8, .length = 4}), "89");
  EXPECT_EQ(get_text(*store_, "value", {.offset = 7}), "789");
  EXPECT_EQ(get_text(*store_, "value", {.offset = 10, .length = 4}), "");
  EXPECT_EQ(get_text(*store_, "value", {.offset = 99, .length = 4}), "");
  EXPECT_EQ(get_text(*store_, "value", {.length = 0}), "");
}

// More parts than one call of the system takes.
TEST_F(LocalStoreTest, ReadIntoFillsPartsOfAnySizeUntilTheValueEnds) {
  std::string value(20'000, '\0');
  for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 31 % 251);
  store_->put("value", as_bytes(value));
  std::string read(value.size(), '?');
  std::vector<std::span<std::byte>> parts;
  for (size_t begin = 0, i = 0; begin < read.size(); begin += i++ % 8) {
    const size_t size = std::min(i % 8, read.size() - begin);
    parts.push_back(std::as_writable_bytes(std::span(read.data() + begin, size)));
  }
  ASSERT_GT(parts.size(), 3000u);
  EXPECT_EQ(read_into(*store_, "value", 0, parts), 20'000);
  EXPECT_TRUE(read == value);
  EXPECT_EQ(read_into(*store_, "value", 15'000, parts), 5'000);
  EXPECT_TRUE(read.substr(0, 5'000) == value.substr(15'000));
  EXPECT_EQ(read_into(*store_, "value", 20'000, parts), 0);
  EXPECT_EQ(read_into(*store_, "absent", 0, parts), std::nullopt);
}

TEST_F(LocalStoreTest, ListIsSortedAndTakesAnyPrefix) {
  for (const char* key : {"b/step-2", "b/step-10", "a", "b/other/x", "bc"}) store_->put(key, {});
  EXPECT_THAT(store_->list(""), ElementsAre("a", "b/other/x", "b/step-10", "b/step-2", "bc"));
  EXPECT_THAT(store_->list("b"), ElementsAre("b/other/x", "b/step-10", "b/step-2", "bc"));
  EXPECT_THAT(store_->list("b/"), ElementsAre("b/other/x", "b/step-10", "b/step-2"));
  EXPECT_THAT(store_->list("b/st"), ElementsAre("b/step-10", "b/step-2"));
  EXPECT_THAT(store_->list("absent/"), IsEmpty());
  EXPECT_THAT(store_->list("a/below"), IsEmpty());
}

TEST_F(LocalStoreTest, ListOfAFolderGivenWithASlashIsTheSame) {
  store_->put("a/b", {});
  EXPECT_THAT(open_store(folder_ / "run/")->list(""), ElementsAre("a/b"));
}

TEST_F(LocalStoreTest, RemoveTwiceIsAsGoodAsOnce) {
  store_->put("a/b", as_bytes("x"));
  store_->remove("a/b");
  EXPECT_EQ(store_->get("a/b"), std::nullopt);
  EXPECT_NO_THROW(store_->remove("a/b"));
  EXPECT_NO_THROW(store_->remove("never/there"));
}

TEST_F(LocalStoreTest, AppendAddsToTheEnd) {
  store_->append("metrics/g001.jsonl", as_bytes("one\n"));
  store_->append("metrics/g001.jsonl", as_bytes("two\n"));
  EXPECT_EQ(get_text(*store_, "metrics/g001.jsonl"), "one\ntwo\n");
}

TEST_F(LocalStoreTest, WritersOfDifferentFilesDoNotDisturbEachOther) {
  const auto append_lines = [&](const Key& key) {
    for (int i = 0; i < 200; ++i) store_->append(key, as_bytes(key + " " + std::to_string(i) + "\n"));
  };
  std::thread first(append_lines, "events/g001.jsonl"), second(append_lines, "events/driver-001.jsonl");
  first.join();
  second.join();
  for (const Key key : {"events/g001.jsonl", "events/driver-001.jsonl"}) {
    std::string expected;
    for (int i = 0; i < 200; ++i) expected += key + " " + std::to_string(i) + "\n";
    EXPECT_EQ(get_text(*store_, key), expected);
  }
}

TEST_F(LocalStoreTest, FreeBytesAreThoseOfTheDiskAlsoBeforeTheFolderIsMade) {
  const auto disk = std::filesystem::space(folder_.path());
  const int64_t free = open_store(folder_ / "not/yet/made")->free_bytes().value();
  EXPECT_GT(free, 0);
  EXPECT_LE(free, static_cast<int64_t>(disk.capacity));
}

// What a crash between writing the temporary file and the rename leaves on the disk.
TEST_F(LocalStoreTest, APartialFileIsNeverReadAndNeverInTheWay) {
  store_->put("record.json", as_bytes("old"));
  std::ofstream(folder_ / "run/record.json.123-0.partial") << "ne";
  EXPECT_EQ(get_text(*store_, "record.json"), "old");
  EXPECT_THAT(store_->list(""), ElementsAre("record.json"));
  store_->put("record.json", as_bytes("newer"));
  EXPECT_EQ(get_text(*store_, "record.json"), "newer");
}

TEST_F(LocalStoreTest, RemovingTheLastValueOfAFolderRemovesTheFolder) {
  store_->put("checkpoints/step-1/a", as_bytes("1"));
  store_->put("checkpoints/step-1/b", as_bytes("2"));
  store_->remove("checkpoints/step-1/a");
  EXPECT_EQ(get_text(*store_, "checkpoints/step-1/b"), "2");
  store_->remove("checkpoints/step-1/b");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/checkpoints/step-1"));
}

TEST_F(LocalStoreTest, SweepingRemovesWhatCrashedWritersLeftAndNothingElse) {
  store_->put("checkpoints/step-1/a", as_bytes("whole"));
  std::ofstream(folder_ / "run/checkpoints/step-1/b.77-0.partial") << "half";
  std::filesystem::create_directories(folder_ / "run/checkpoints/step-2");
  std::ofstream(folder_ / "run/checkpoints/step-2/a.77-1.partial") << "half";
  store_->sweep("checkpoints/");
  EXPECT_EQ(get_text(*store_, "checkpoints/step-1/a"), "whole");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/checkpoints/step-1/b.77-0.partial"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/checkpoints/step-2"));
}

TEST_F(LocalStoreTest, AFileInThePlaceOfAFolderIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  const auto store = open_store(folder_ / "file/run");
  const auto names_it =
      ThrowsMessage<IoError>(AllOf(HasSubstr(folder_ / "file/run"), HasSubstr("Not a directory")));
  EXPECT_THAT([&] { store->put("record.json", as_bytes("x")); }, names_it);
  EXPECT_THAT([&] { store->append("record.json", as_bytes("x")); },
              ThrowsMessage<IoError>(
                  AllOf(HasSubstr(folder_ / "file/run/record.json"), HasSubstr("Not a directory"))));
}

TEST_F(LocalStoreTest, AFolderInThePlaceOfAFileIsNamed) {
  std::filesystem::create_directories(folder_ / "run/record.json");
  const auto names_it =
      ThrowsMessage<IoError>(AllOf(HasSubstr(folder_ / "run/record.json"), HasSubstr("Is a directory")));
  EXPECT_THAT([&] { store_->put("record.json", as_bytes("x")); }, names_it);
  EXPECT_THAT([&] { store_->append("record.json", as_bytes("x")); }, names_it);
  EXPECT_THAT(store_->list(""), IsEmpty());
}

TEST_F(LocalStoreTest, WhatIsNoKeyIsOurOwnMistake) {
  for (const char* key : {"", "/a", "a/", "a//b", "../a", "a/./b", "a.partial"}) {
    EXPECT_DEATH(store_->put(key, {}), "is not a key") << key;
  }
}

}  // namespace
}  // namespace lockstep::storage
