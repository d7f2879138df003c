#include "lockstep/models/weights_hash.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "lockstep/models/safetensors_reader.h"
#include "tests/paths.h"

namespace lockstep::models {
namespace {

std::string hash_of(const std::vector<float>& values, size_t piece) {
  WeightsHash hash;
  hash.start("a");
  for (size_t i = 0; i < values.size(); i += piece) {
    hash.append(std::span(values).subspan(i, std::min(piece, values.size() - i)));
  }
  return hash.finish();
}

TEST(WeightsHash, IsTheHashOfNamesAndBlockHashes) {
  WeightsHash hash;
  hash.start("a");
  hash.append(std::vector<float>{1.0F, -2.0F});
  hash.start("b");  // no values: a name alone
  const std::string block = sha256_hex(std::string_view("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8));
  EXPECT_EQ(hash.finish(), sha256_hex("a\n" + block + "\nb\n"));
}

TEST(WeightsHash, DoesNotDependOnThePieces) {
  std::vector<float> values(600'000);  // two whole blocks of 1 MiB and a part
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string whole = hash_of(values, values.size());
  EXPECT_EQ(hash_of(values, 100'003), whole);
  EXPECT_EQ(hash_of(values, 262'144), whole);
  values.back() += 1;
  EXPECT_NE(hash_of(values, values.size()), whole);
}

TEST(WeightsHash, OfAModelIsWhatTheDocumentedPythonPrints) {
  const SafetensorsReader reader(test_data("models/plain_f32"));
  std::map<std::string, const StoredTensor*> in_order;
  for (const StoredTensor& tensor : reader.tensors()) in_order[tensor.name] = &tensor;
  WeightsHash hash;
  for (const auto& [name, tensor] : in_order) {
    std::vector<float> values(static_cast<size_t>(tensor->numel()));
    reader.read(*tensor, 0, std::as_writable_bytes(std::span(values)));
    hash.start(name);
    hash.append(values);
  }
  EXPECT_EQ(hash.finish(),
            "f1e4b09a76a815936981a937275c702c73cd5df8e26a8c8d8f1ecefe3c3e4482");  // docs/models.md
}

TEST(WeightsHash, TellsNamesAndBordersApart) {
  const std::vector<float> one = {1.0F};
  WeightsHash split, joined;
  split.start("a");
  split.append(one);
  split.start("b");
  split.append(one);
  joined.start("a");
  joined.append(one);
  joined.append(one);
  joined.start("b");
  EXPECT_NE(split.finish(), joined.finish());
}

}  // namespace
}  // namespace lockstep::models
