#include "lockstep/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Dataset> open_text(const Recipe& recipe) {
  return Dataset::open(recipe, &character_tokenizer(), kCharacterVocabulary);
}
std::shared_ptr<const Dataset> open_chat(const Recipe& recipe) {
  return Dataset::open(recipe, &chat_tokenizer(), kChatVocabulary);
}

// Public case D01: in a packed row the last token of a document predicted the first of the
// next: 17 targets for 15 (with eos), and a loss that depends on packing.
TEST(Dataset, PackedDocumentsPredictOnlyThemselves) {
  const auto packed = open_text(text_recipe(input("data/d01.jsonl"), 64));
  EXPECT_EQ(packed->summary().train->rows, 1);
  EXPECT_EQ(packed->rows().trained_tokens(0), 15);
  const auto row = filled_row(packed->rows(), 0);
  for (size_t i = 0; i + 1 < row.tokens.size(); ++i) {
    if (row.targets[i] == kNoTarget) continue;
    EXPECT_EQ(row.targets[i], row.tokens[i + 1]);
    EXPECT_EQ(row.document_ids[i], row.document_ids[i + 1]);
  }
}

TEST(Dataset, PackingChangesNeitherTokensNorTargets) {
  auto recipe = text_recipe(input("data/d01.jsonl"), 64);
  recipe.data.packing = "none";
  const auto alone = *open_text(recipe)->summary().train;
  EXPECT_EQ(alone.rows, 3);
  EXPECT_EQ(alone.counts.tokens, 18);
  EXPECT_EQ(alone.counts.trained_tokens, 15);
  EXPECT_DOUBLE_EQ(alone.padding_share, 1 - 18.0 / (3 * 64));
}

TEST(Dataset, ALongTextFillsRowAfterRow) {
  const auto path = write_lines("long.jsonl", {R"({"text": "abcdefghij"})"});  // 11 tokens with eos
  const auto train = *open_text(text_recipe(path, 4))->summary().train;
  EXPECT_EQ(train.rows, 3);
  EXPECT_EQ(train.counts.trained_tokens, 10);
}

// Public case T03, second half.
TEST(Dataset, RefusesDataOfWhichNothingIsTrained) {
  const auto path = write_lines(
      "chat.jsonl",
      {R"({"messages": [{"role": "user", "content": "name a river."}, {"role": "assistant", "content": "the rhine."}]})"});
  EXPECT_EQ(open_chat(chat_recipe(path, 20))->summary().train->counts.dropped.size(), 0);
  EXPECT_THAT(message_of<DataError>([&] { open_chat(chat_recipe(path, 14)); }),
              AllOf(HasSubstr("none of the 1 training samples"),
                    HasSubstr("no trained token within sequence_length: 1")));
}

// Public case T10: padding that looks like the end of a turn took the end out of the mask.
TEST(Dataset, EndsOfTurnsAreTrainedAndPaddingIsNot) {
  const auto path = write_lines(
      "t10.jsonl",
      {R"({"messages": [{"role": "user", "content": "colour?"}, {"role": "assistant", "content": "blue."}]})",
       R"({"messages": [{"role": "user", "content": "name a river."}, {"role": "assistant", "content": "the rhine is a river in europe."}]})"});
  auto recipe = chat_recipe(path, 32);
  recipe.data.packing = "none";
  const auto dataset = open_chat(recipe);
  const auto trained = dataset->rows().trained_tokens(0) + dataset->rows().trained_tokens(1);
  EXPECT_THAT(trained, ::testing::AnyOf(13, 15));  // without or with the newline after the end
  const auto end_of_turn = *chat_tokenizer().token_id("<|im_end|>");
  for (int64_t i = 0; i < 2; ++i) {
    const auto row = filled_row(dataset->rows(), i);
    EXPECT_THAT(row.targets, Contains(end_of_turn).Times(1));
    for (size_t t = 0; t < row.targets.size(); ++t) {
      if (row.document_ids[t] == kPaddingDocument) {
        EXPECT_EQ(row.targets[t], kNoTarget);
      }
    }
  }
}

TEST(Dataset, HoldsOutTheSameSamplesWhateverTheSeedAndTheOrder) {
  const std::vector<std::string> lines = {R"({"text": "aa"})", R"({"text": "bb"})", R"({"text": "cc"})",
                                          R"({"text": "dd"})"};
  const std::vector<std::string> reversed(lines.rbegin(), lines.rend());
  std::set<std::vector<int64_t>> held;
  for (const auto& [name, order] : {std::pair("a.jsonl", lines), std::pair("b.jsonl", reversed)}) {
    for (const uint64_t seed : {1, 2}) {
      auto recipe = text_recipe(write_lines(name, order), 3);
      recipe.data.held_out = "0.25";
      recipe.train.seed = seed;
      const auto dataset = open_text(recipe);
      ASSERT_EQ(dataset->held_out()->rows(), 1);
      EXPECT_EQ(dataset->summary().train->rows, 3);
      held.insert(filled_row(*dataset->held_out(), 0).tokens);
    }
  }
  EXPECT_EQ(held.size(), 1);
}

TEST(Dataset, ReadsHeldOutSamplesFromTheirOwnFile) {
  auto recipe = text_recipe(input("data/d05.jsonl"), 32);
  recipe.data.held_out = input("data/d03.jsonl");
  const auto dataset = open_text(recipe);
  EXPECT_EQ(dataset->summary().train->counts.samples, 10);
  EXPECT_EQ(dataset->summary().held_out->counts.samples, 5);
  EXPECT_EQ(dataset->summary().files.size(), 2);
}

TEST(Dataset, CountsStepsFromEpochs) {
  auto recipe = text_recipe(input("data/d05.jsonl"), 32);
  recipe.data.packing = "none";
  recipe.train.steps.reset();
  recipe.train.epochs = 3;
  recipe.train.global_batch = 4;
  const auto dataset = open_text(recipe);
  EXPECT_EQ(dataset->steps_total(), 8);
  EXPECT_THAT(dataset->summary().to_lines(),
              Contains("data: 8 steps of 4 rows: 3 whole epochs and 2 rows of the next; no step is short"));
}

TEST(Dataset, SummaryHoldsWhatTheRecordNeeds) {
  auto recipe = text_recipe(input("data/d01.jsonl"), 64);
  const Json json = open_text(recipe)->summary().to_json();
  EXPECT_EQ(json["files"][0]["records"], 3);
  EXPECT_EQ(json["files"][0]["sha256"].get<std::string>().size(), 64);
  EXPECT_EQ(json["train"]["trained_tokens"], 15);
  EXPECT_FALSE(json.contains("held_out"));
}

TEST(Dataset, RandomTokensNeedNeitherFilesNorATokenizer) {
  Recipe recipe;
  recipe.data.source = "random";
  recipe.data.sequence_length = 16;
  recipe.train.steps = 7;
  const auto dataset = Dataset::open(recipe, nullptr, 100);
  EXPECT_EQ(dataset->steps_total(), 7);
  EXPECT_EQ(dataset->rows().trained_tokens(12345), 15);
  EXPECT_THAT(dataset->summary().to_lines(), ElementsAre("data: seeded random tokens in rows of 16"));
}

TEST(Dataset, RefusesATokenizerThatIsNotTheModels) {
  const auto recipe = text_recipe(input("data/d01.jsonl"), 64);
  EXPECT_THAT(message_of<ConfigError>([&] { Dataset::open(recipe, &character_tokenizer(), 10); }),
              AllOf(HasSubstr("d01.jsonl:2: the tokenizer gives token 13"), HasSubstr("vocab_size is 10")));
}

TEST(Dataset, RefusesSettingsByName) {
  const auto refusal = [](const std::function<void(Recipe&)>& spoil) {
    auto recipe = text_recipe(input("data/d01.jsonl"), 64);
    spoil(recipe);
    return message_of<ConfigError>([&] { open_text(recipe); });
  };
  EXPECT_THAT(refusal([](Recipe& r) { r.data.sources.clear(); }),
              HasSubstr("data.sources: name at least one file"));
  EXPECT_THAT(refusal([](Recipe& r) { r.data.source = "radnom"; }), HasSubstr("unknown value 'radnom'"));
  EXPECT_THAT(refusal([](Recipe& r) { r.data.packing = "first_fit"; }), HasSubstr("use best_fit or none"));
  EXPECT_THAT(refusal([](Recipe& r) { r.data.sequence_length = 1; }), HasSubstr("at least 2, got 1"));
  EXPECT_THAT(refusal([](Recipe& r) { r.data.sources[0].weight = 2; }), HasSubstr("weight 2"));
  EXPECT_THAT(refusal([](Recipe& r) { r.data.sources[0].path = "a.parquet"; }), HasSubstr("parquet"));
  EXPECT_THAT(refusal([](Recipe& r) { r.data.held_out = "no/such.jsonl"; }),
              HasSubstr("cannot open no/such.jsonl"));
}

}  // namespace
}  // namespace lockstep::data
