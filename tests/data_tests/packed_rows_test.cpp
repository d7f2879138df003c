#include "lockstep/data/packed_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<TokenStore> store_of(const std::vector<std::vector<int32_t>>& samples) {
  auto store = std::make_shared<TokenStore>();
  for (const auto& ids : samples) store->add({ids, std::vector<uint8_t>(ids.size(), 1), 0});
  return store;
}

TEST(PackedRows, DocumentsOfARowStayApart) {
  const auto store = store_of({{11, 12, 13}, {21, 22}});
  const PackedRows rows(store, {{0, 3, 3, 2}, {3, 5, 2, 1}}, {{1, 0}}, 7);
  const auto row = filled_row(rows, 0);
  EXPECT_THAT(row.tokens, ElementsAre(21, 22, 11, 12, 13, kPaddingToken, kPaddingToken));
  EXPECT_THAT(row.positions, ElementsAre(0, 1, 0, 1, 2, 0, 0));
  EXPECT_THAT(row.document_ids, ElementsAre(0, 0, 1, 1, 1, -1, -1));
  EXPECT_THAT(row.targets, ElementsAre(22, -100, 12, 13, -100, -100, -100));
  EXPECT_EQ(rows.trained_tokens(0), 3);
}

std::shared_ptr<PackedRows> ten_rows() {
  std::vector<std::vector<int32_t>> samples;
  std::vector<Piece> pieces;
  for (int32_t i = 0; i < 10; ++i) {
    samples.push_back({i, i});
    pieces.push_back({2 * i, 2 * i + 2, 2, 1});
  }
  return std::make_shared<PackedRows>(store_of(samples), pieces, pack_none(10), 2);
}

TEST(ShuffledRows, EveryEpochHasEveryRowOnceInAnOrderOfItsOwn) {
  const ShuffledRows rows(ten_rows(), 7);
  std::vector<std::vector<int64_t>> epochs(3);
  for (int64_t row = 0; row < 30; ++row) epochs[row / 10].push_back(rows.row_of_pass(row));
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  for (auto& epoch : epochs) {
    std::ranges::sort(epoch);
    EXPECT_THAT(epoch, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
}

TEST(ShuffledRows, ARowIsTheSameHoweverOneGetsThere) {
  const ShuffledRows there(ten_rows(), 7), back(ten_rows(), 7);
  std::vector<int64_t> forwards, backwards;
  for (int64_t row = 0; row < 40; ++row) forwards.push_back(there.row_of_pass(row));
  for (int64_t row = 39; row >= 0; --row) backwards.insert(backwards.begin(), back.row_of_pass(row));
  EXPECT_EQ(forwards, backwards);
}

}  // namespace
}  // namespace lockstep::data
