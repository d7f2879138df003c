#include "lockstep/data/jsonl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/sha256.h"
#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void ignore(int64_t, const Json&) {}

TEST(Jsonl, GivesRecordsWithTheirLinesAndTheFilesHash) {
  const auto path = write_lines("two.jsonl", {R"({"text": "a"})", "  \r", R"({"text": "b"})"});
  std::vector<std::pair<int64_t, std::string>> seen;
  const auto file =
      read_jsonl(path, [&](int64_t line, const Json& record) { seen.emplace_back(line, record["text"]); });
  EXPECT_THAT(seen, ElementsAre(std::pair(1, "a"), std::pair(3, "b")));
  EXPECT_EQ(file.records, 2);
  EXPECT_EQ(file.sha256, sha256_file(path));
}

TEST(Jsonl, HashesAFileWithoutALastNewlineAsItIs) {
  const auto path = write_lines("cut.jsonl", {});
  std::ofstream(path, std::ios::app) << R"({"text": "a"})";
  const auto file = read_jsonl(path, ignore);
  EXPECT_EQ(file.sha256, sha256_file(path));
  EXPECT_EQ(file.bytes, 13);
}

TEST(Jsonl, NamesTheLineThatIsNotJson) {
  const auto path = write_lines("broken.jsonl", {R"({"text": "a"})", R"({"text": "b)"});
  EXPECT_THAT(message_of<DataError>([&] { read_jsonl(path, ignore); }),
              AllOf(HasSubstr("broken.jsonl:2: not JSON at byte 12"), HasSubstr("missing closing quote"),
                    HasSubstr("Correct or remove the line")));
}

TEST(Jsonl, NamesTheLineThatIsNoObject) {
  const auto path = write_lines("list.jsonl", {R"(["a"])"});
  EXPECT_THAT(message_of<DataError>([&] { read_jsonl(path, ignore); }),
              HasSubstr("list.jsonl:1: a JSON array"));
}

TEST(Jsonl, RefusesBytesThatAreNoUtf8) {
  const auto path = write_lines("latin1.jsonl", {"{\"text\": \"caf\xe9\"}"});
  EXPECT_THAT(message_of<DataError>([&] { read_jsonl(path, ignore); }),
              HasSubstr("latin1.jsonl:1: not JSON"));
}

TEST(Jsonl, RefusesAFileWithoutRecords) {
  EXPECT_THAT(message_of<DataError>([] { read_jsonl(write_lines("empty.jsonl", {}), ignore); }),
              HasSubstr("empty.jsonl holds no samples (0 bytes)"));
  EXPECT_THAT(message_of<DataError>([] {
                read_jsonl(write_lines("blank.jsonl", {"", " "}), ignore);
              }),
              HasSubstr("holds no samples (3 bytes)"));
}

TEST(Jsonl, AMissingFileIsBadUsage) {
  EXPECT_THAT(message_of<ConfigError>([] { read_jsonl("no/such.jsonl", ignore); }),
              HasSubstr("cannot open no/such.jsonl: No such file or directory"));
  EXPECT_THAT(message_of<ConfigError>([] { read_jsonl(::testing::TempDir(), ignore); }),
              HasSubstr("is a folder"));
}

}  // namespace
}  // namespace lockstep::data
