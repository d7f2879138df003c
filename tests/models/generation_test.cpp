#include "lockstep/models/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/model_folders.h"
#include "tests/models/model_input.h"

namespace lockstep::models {
namespace {

// Each token by a forward over all that went before, without a cache.
std::vector<text::TokenId> generate_slowly(CausalLM& model, std::vector<int64_t> tokens, int64_t count) {
  std::vector<text::TokenId> answer;
  for (int64_t i = 0; i < count; ++i) {
    const auto input = single_document(tokens);
    const auto logits = model(input.tokens, input.positions, input.document_ids)[0][-1];
    tokens.push_back(logits.argmax().item<int64_t>());
    answer.push_back(static_cast<text::TokenId>(tokens.back()));
  }
  return answer;
}

class Generation : public testing::TestWithParam<std::string> {};

TEST_P(Generation, WithACacheEqualsGenerationWithout) {
  CausalLM model = load_whole(test_folder(GetParam()), at::kDouble);
  EXPECT_EQ(generate(model, {3, 9, 4}, 20, {}), generate_slowly(model, {3, 9, 4}, 20));
}

INSTANTIATE_TEST_SUITE_P(Families, Generation,
                         testing::Values("llama2_random", "qwen2_random", "qwen3_random"),
                         [](const auto& info) { return info.param; });

TEST(Generation, EndsBeforeAStopToken) {
  CausalLM model = load_whole(test_folder("llama2_random"));
  const auto free = generate(model, {3, 9, 4}, 20, {});
  const auto stop = free[5];
  const auto stopped = generate(model, {3, 9, 4}, 20, {stop});
  const auto first = std::find(free.begin(), free.end(), stop);
  EXPECT_THAT(stopped, testing::ElementsAreArray(free.begin(), first));
}

TEST(Generation, EndsAtTheModelsLastPosition) {
  CausalLM model = load_whole(test_folder("llama2_random"));  // 64 positions
  EXPECT_EQ(generate(model, std::vector<text::TokenId>(60, 5), 20, {}).size(), 4U);
  EXPECT_EQ(generate(model, std::vector<text::TokenId>(70, 5), 20, {}).size(), 0U);
}

TEST(Generation, FollowsTheRankThatDecides) {
  CausalLM model = load_whole(test_folder("llama2_random"));
  const auto always_7 = [](int64_t) { return int64_t{7}; };
  EXPECT_THAT(generate(model, {3}, 3, {}, always_7), testing::ElementsAre(7, 7, 7));
}

}  // namespace
}  // namespace lockstep::models
