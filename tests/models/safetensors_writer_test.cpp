#include "lockstep/models/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "lockstep/base/error.h"
#include "lockstep/models/json_file.h"
#include "lockstep/models/safetensors_reader.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::models {
namespace {

const std::vector<TensorPlan> kTensors = {{"a", "F32", {2, 3}}, {"b", "BF16", {5}}, {"c", "F16", {}}};

std::vector<std::byte> values_of(const TensorPlan& tensor) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.num_bytes()));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(tensor.name[0] + i);
  return bytes;
}

void write_all(const std::string& folder, int64_t max_file_bytes) {
  SafetensorsWriter writer(folder, kTensors, max_file_bytes);
  for (const TensorPlan& tensor : kTensors) writer.write(tensor.name, values_of(tensor));
  writer.finish();
}

void expect_read_back(const std::string& folder) {
  const SafetensorsReader reader(folder);
  ASSERT_EQ(reader.tensors().size(), kTensors.size());
  for (const TensorPlan& tensor : kTensors) {
    const StoredTensor* stored = reader.find(tensor.name);
    ASSERT_NE(stored, nullptr) << tensor.name;
    EXPECT_EQ(stored->dtype, tensor.dtype);
    EXPECT_EQ(stored->shape, tensor.shape);
    std::vector<std::byte> bytes(static_cast<size_t>(stored->num_bytes));
    reader.read(*stored, 0, bytes);
    EXPECT_EQ(bytes, values_of(tensor)) << tensor.name;
  }
}

TEST(SafetensorsWriter, OneFileReadsBack) {
  const TemporaryFolder folder;
  write_all(folder.path(), SafetensorsWriter::kMaxFileBytes);
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/model.safetensors"));
  expect_read_back(folder.path());
}

TEST(SafetensorsWriter, AboveTheLimitShardsReadBack) {
  const TemporaryFolder folder;
  write_all(folder.path(), 12);  // a alone exceeds it; b and c just fit
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/model-00001-of-00002.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/model-00002-of-00002.safetensors"));
  EXPECT_EQ(load_json(folder.path() + "/model.safetensors.index.json")["metadata"]["total_size"], 36);
  expect_read_back(folder.path());
}

TEST(SafetensorsWriter, DataStartsAtAMultipleOfEight) {
  const TemporaryFolder folder;
  write_all(folder.path(), SafetensorsWriter::kMaxFileBytes);
  const SafetensorsReader reader(folder.path());
  EXPECT_EQ(reader.find("a")->offset % 8, 0);
}

TEST(SafetensorsWriter, ADiskThatTakesNoMoreIsAnIoError) {
  const TemporaryFolder folder;
  SafetensorsWriter writer(folder.path(), {{"a", "F32", {100'000}}});
  const std::vector<std::byte> values(400'000);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THAT([&] { writer.write("a", values); },
              testing::ThrowsMessage<IoError>(testing::HasSubstr(folder.path())));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

}  // namespace
}  // namespace lockstep::models
