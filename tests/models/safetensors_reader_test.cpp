#include "lockstep/models/safetensors_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <span>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/models/safetensors_bytes.h"

namespace lockstep::models {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two tensors, 24 + 8 bytes.
const std::string kGoodJson =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]}})";

class SafetensorsFile : public testing::Test {
 protected:
  SafetensorsReader open(const std::string& bytes) {
    write_file(path_, bytes);
    return SafetensorsReader::file(path_);
  }
  void expect_refused(const std::string& bytes, const std::string& words) {
    EXPECT_THAT([&] { open(bytes); }, ThrowsMessage<ConfigError>(AllOf(HasSubstr(path_), HasSubstr(words))));
  }
  void expect_entry_refused(const std::string& entry, const std::string& words) {
    expect_refused(safetensors_bytes(R"({"t":)" + entry + "}", 24), words);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/model.safetensors";
};

TEST_F(SafetensorsFile, ListsItsTensors) {
  const auto reader = open(safetensors_bytes(kGoodJson, 32));
  ASSERT_EQ(reader.tensors().size(), 2U);
  EXPECT_EQ(reader.tensors()[0].name, "a");
  EXPECT_THAT(reader.tensors()[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(reader.find("b")->dtype, "BF16");
  EXPECT_EQ(reader.find("c"), nullptr);
}

TEST_F(SafetensorsFile, ReadsAPartOfATensor) {
  std::string bytes = safetensors_bytes(kGoodJson, 0);
  for (char i = 0; i < 32; ++i) bytes.push_back(i);
  const auto reader = open(bytes);
  std::byte out[3];
  reader.read(*reader.find("b"), 2, out);
  EXPECT_THAT(out, ElementsAre(std::byte{26}, std::byte{27}, std::byte{28}));
}

TEST_F(SafetensorsFile, TruncatedDataIsRefused) {
  expect_refused(safetensors_bytes(kGoodJson, 31), "truncated");
  expect_refused(safetensors_bytes(kGoodJson, 0), "truncated");
}

TEST_F(SafetensorsFile, HeaderThatClaimsMoreThanTheFileIsRefused) {
  std::string bytes = safetensors_bytes(kGoodJson, 32);
  bytes[2] = 1;  // 65536 more
  expect_refused(bytes, "its header claims 65680 bytes");
  bytes[7] = '\xff';
  expect_refused(bytes, "no safetensors file");
  expect_refused("1234567", "too short");
  expect_refused("", "too short");
}

TEST_F(SafetensorsFile, BytesThatNoTensorOwnsAreRefused) {
  expect_refused(safetensors_bytes(kGoodJson, 33), "its tensors take 32 bytes, but it holds 33");
}

TEST_F(SafetensorsFile, OverlapsAndGapsAreRefused) {
  const auto two = [](const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":)" +
           second + "}}";
  };
  expect_refused(safetensors_bytes(two("[3,7]"), 7), "overlaps");
  expect_refused(safetensors_bytes(two("[5,9]"), 9), "gap");
}

TEST_F(SafetensorsFile, EntriesMustAddUp) {
  expect_entry_refused(R"({"dtype":"F32","shape":[5],"data_offsets":[0,24]})", "F32 [5] takes 20");
  expect_entry_refused(R"({"dtype":"F99","shape":[6],"data_offsets":[0,24]})", "unknown dtype \"F99\"");
  expect_entry_refused(R"({"dtype":"F32","shape":[-6],"data_offsets":[0,24]})", "shape");
  expect_entry_refused(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,24]})",
                       "impossible shape");
  expect_entry_refused(R"({"dtype":"F32","shape":[6],"data_offsets":[24,0]})", "data_offsets");
  expect_entry_refused(R"({"dtype":"F32","shape":[6],"data_offsets":[0,1e400]})", "number overflow");
  expect_entry_refused(R"({"dtype":"F32","shape":[6]})", "has no dtype, shape and data_offsets");
  expect_entry_refused("7", "has no dtype, shape and data_offsets");
}

TEST_F(SafetensorsFile, ANameTwiceIsRefused) {
  expect_refused(safetensors_bytes(R"({"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                   R"("t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                   2),
                 "\"t\" twice");
}

TEST_F(SafetensorsFile, AFolderInItsPlaceIsRefused) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT([&] { SafetensorsReader::file(path_); },
              ThrowsMessage<ConfigError>(HasSubstr("is not a file")));
}

// What a reader would do with a whole file in memory.
std::vector<StoredTensor> parse_file(const std::string& bytes) {
  const auto file_bytes = static_cast<int64_t>(bytes.size());
  const auto first =
      std::as_bytes(std::span(bytes)).first(std::min<size_t>(bytes.size(), kHeaderLengthBytes));
  const int64_t json_bytes = header_json_bytes(first, file_bytes, "file");
  return parse_header(std::string_view(bytes).substr(kHeaderLengthBytes, static_cast<size_t>(json_bytes)),
                      file_bytes, "file");
}

// Whatever the bytes: tensors inside the file, or ConfigError. Under the sanitizers this finds what
// no list of cases does.
TEST(SafetensorsHeader, OfAnyBytesIsUsableOrRefused) {
  const std::string good = safetensors_bytes(kGoodJson, 32);
  std::mt19937 random(7);
  const auto draw = [&](size_t below) { return static_cast<size_t>(random() % below); };
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = good;
    for (size_t edits = 1 + draw(4); edits > 0; --edits) {
      const size_t at = draw(bytes.size());
      switch (draw(4)) {
        case 0:
          bytes[at] = static_cast<char>(draw(256));
          break;
        case 1:
          bytes.erase(at, draw(20));
          break;
        case 2:
          bytes.insert(at, std::string(draw(20), "[{\"0,9-}]e"[draw(10)]));
          break;
        default:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(8)));
      }
      if (bytes.empty()) bytes = "x";
    }
    try {
      for (const StoredTensor& tensor : parse_file(bytes)) {
        ASSERT_GE(tensor.offset, kHeaderLengthBytes);
        ASSERT_GE(tensor.num_bytes, 0);
        ASSERT_LE(tensor.offset + tensor.num_bytes, static_cast<int64_t>(bytes.size()));
      }
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

class SafetensorsFolder : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) {
    write_file(folder_.path() + "/" + name, bytes);
  }
  void write_shard(const std::string& name, const std::string& tensor) {
    write(name,
          safetensors_bytes(R"({")" + tensor + R"(":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2));
  }
  void expect_refused(const std::string& words) {
    EXPECT_THAT([&] { SafetensorsReader reader(folder_.path()); },
                ThrowsMessage<ConfigError>(HasSubstr(words)));
  }
  static constexpr const char* kIndex = "model.safetensors.index.json";

  TemporaryFolder folder_;
};

TEST_F(SafetensorsFolder, ReadsTheShardsOfItsIndex) {
  write_shard("one.safetensors", "a");
  write_shard("two.safetensors", "b");
  write(kIndex, R"({"weight_map":{"b":"two.safetensors","a":"one.safetensors"}})");
  const SafetensorsReader reader(folder_.path());
  EXPECT_EQ(reader.tensors().size(), 2U);
  EXPECT_THAT(reader.file_of(*reader.find("b")), testing::EndsWith("two.safetensors"));
}

TEST_F(SafetensorsFolder, IndexAndShardsMustAgree) {
  write_shard("one.safetensors", "a");
  write(kIndex, R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  expect_refused("names two.safetensors, which is not there");
  write_shard("two.safetensors", "c");
  expect_refused("two.safetensors holds b, but it does not");
  write_shard("two.safetensors", "a");
  expect_refused("a is in");
  write(kIndex, R"({"weight_map":{"a":"one.safetensors"}})");
  EXPECT_NO_THROW(SafetensorsReader(folder_.path())) << "a file that the index leaves out is not read";
  write("one.safetensors", safetensors_bytes(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                             R"("x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                                             4));
  expect_refused("holds x, which");
}

TEST_F(SafetensorsFolder, ShardsLieBesideTheirIndex) {
  for (const char* name : {"../one.safetensors", "/etc/passwd", ""}) {
    write(kIndex, std::string(R"({"weight_map":{"a":")") + name + R"("}})");
    expect_refused("no file name");
  }
  write(kIndex, R"({"weight_map":{}})");
  expect_refused("no weight_map");
}

TEST_F(SafetensorsFolder, WithoutWeightsSaysSo) { expect_refused("holds neither"); }

TEST_F(SafetensorsFolder, WithTwoAnswersIsRefused) {
  write_shard("model.safetensors", "a");
  write(kIndex, R"({"weight_map":{"a":"model.safetensors"}})");
  expect_refused("holds both model.safetensors and model.safetensors.index.json");
}

}  // namespace
}  // namespace lockstep::models
