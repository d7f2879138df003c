#include "lockstep/data/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Sample i has tokens 100 * i + 0, 1, 2, ...; `masks[i]` says which are trained.
TokenStore store_of(const std::vector<std::string>& masks) {
  TokenStore store;
  for (size_t i = 0; i < masks.size(); ++i) {
    Sample sample;
    for (size_t j = 0; j < masks[i].size(); ++j) {
      sample.ids.push_back(int32_t(100 * i + j));
      sample.trained.push_back(masks[i][j] == '1');
    }
    store.add(sample);
  }
  return store;
}

CutResult cut_all(const TokenStore& store, int64_t sequence_length, Overlong overlong) {
  std::vector<int64_t> samples(store.samples());
  std::iota(samples.begin(), samples.end(), 0);
  return cut(store, samples, sequence_length, overlong);
}

std::vector<int64_t> targets_of(const TokenStore& store, const Piece& piece) {
  HostRow row(piece.length);
  write_piece(store, piece, row.view(), 0, 0);
  return row.targets;
}

TEST(Cut, EveryTokenOfALongTextButTheFirstIsPredictedOnce) {
  const auto store = store_of({"1111111"});
  const auto [pieces, counts] = cut_all(store, 3, Overlong::kCut);
  ASSERT_EQ(pieces.size(), 2);  // the third would hold one token that predicts nothing
  EXPECT_THAT(targets_of(store, pieces[0]), ElementsAre(1, 2, 3));
  EXPECT_THAT(targets_of(store, pieces[1]), ElementsAre(4, 5, 6));
  EXPECT_EQ(counts.trained_tokens, 6);
  EXPECT_EQ(counts.cut_samples, 1);
}

TEST(Cut, ThePiecesTargetsAreThoseThatAreWritten) {
  const auto store = store_of({"0110100111", "11", "0001"});
  for (const auto overlong : {Overlong::kCut, Overlong::kTruncate}) {
    const auto [pieces, counts] = cut_all(store, 4, overlong);
    int64_t written = 0;
    for (const auto& piece : pieces) {
      const auto targets = targets_of(store, piece);
      EXPECT_EQ(std::ranges::count_if(targets, [](int64_t t) { return t != kNoTarget; }), piece.targets);
      written += piece.targets;
    }
    EXPECT_EQ(counts.trained_tokens, written);
  }
}

// Public case T03: the mask of an assistant turn that was cut became 0.
TEST(Cut, ATruncatedAssistantTurnKeepsWhatIsTrained) {
  const auto expected = Json::parse(std::ifstream(input("text/text_cases.json")))["T03"];
  Sample sample;
  sample.ids = expected["ids"].get<std::vector<int32_t>>();
  for (const char c : expected["mask_full"].get<std::string>()) sample.trained.push_back(c == '1');
  TokenStore store;
  store.add(sample);

  const auto at_20 = cut_all(store, 20, Overlong::kTruncate);
  ASSERT_EQ(at_20.pieces.size(), 1);
  EXPECT_EQ(at_20.pieces[0].length, 20);
  EXPECT_EQ(at_20.pieces[0].targets, 6);
  EXPECT_EQ(at_20.counts.truncated_samples, 1);
  EXPECT_EQ(at_20.counts.truncated_tokens, 9);

  const auto at_14 = cut_all(store, 14, Overlong::kTruncate);
  EXPECT_TRUE(at_14.pieces.empty());
  EXPECT_THAT(at_14.counts.dropped, ElementsAre(Pair("no trained token within sequence_length", 1)));
}

TEST(Cut, CountsWhatItDropsByReason) {
  // The first token of a sample is nobody's target, so a mask with it alone trains nothing.
  const auto [pieces, counts] =
      cut_all(store_of({"1", "", "000", "100", "00001", "011"}), 3, Overlong::kTruncate);
  EXPECT_EQ(pieces.size(), 1);
  EXPECT_EQ(counts.samples, 6);
  EXPECT_EQ(counts.tokens, 3);
  EXPECT_THAT(counts.dropped, ElementsAre(Pair("fewer than two tokens", 2), Pair("no trained token", 2),
                                          Pair("no trained token within sequence_length", 1)));
}

}  // namespace
}  // namespace lockstep::data
