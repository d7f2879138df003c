#include "lockstep/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "lockstep/base/error.h"
#include "tests/text/temp_folder.h"
#include "tests/text/text_data.h"

namespace lockstep::text {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::unique_ptr<Tokenizer> tok() { return Tokenizer::from_pretrained(data_path("tok")); }

std::unique_ptr<Tokenizer> tok_bos() { return Tokenizer::from_pretrained(data_path("tok_bos")); }

TEST(Tokenizer, GivesBackTheTextThatWasEncoded) {
  const std::string text = "name a river.  \n\tÅ — 東京 \xF0\x9F\x99\x82 <|im_end|>";
  EXPECT_EQ(tok()->decode(tok()->encode(text)), text);
}

TEST(Tokenizer, LeavesSpecialTokensOutOfTheTextWhenAsked) {
  const auto ids = tok()->encode("blue.<|im_end|>");
  EXPECT_EQ(tok()->decode(ids, /*skip_special_tokens=*/true), "blue.");
}

// Case T01: the post-processor adds the one BOS that plain text gets.
TEST(Tokenizer, PlainTextGetsOneBosFromThePostProcessor) {
  const Json expected = read_json(data_path("text_cases.json"))["T01"]["text_shape"];
  const auto with_bos = expected["ids"].get<std::vector<TokenId>>();
  EXPECT_EQ(tok_bos()->encode(expected["text"]), with_bos);
  const std::vector<TokenId> without_bos(with_bos.begin() + 1, with_bos.end());
  EXPECT_EQ(tok_bos()->encode(expected["text"], /*add_special_tokens=*/false), without_bos);
}

TEST(Tokenizer, EmptyTextHasOnlyWhatThePostProcessorAdds) {
  EXPECT_TRUE(tok()->encode("").empty());
  EXPECT_EQ(tok_bos()->encode(""), std::vector<TokenId>{3});
  EXPECT_EQ(tok()->decode({}), "");
}

TEST(Tokenizer, KnowsItsSpecialTokensById) {
  EXPECT_EQ(tok()->token_id("<|im_start|>"), 1);
  EXPECT_EQ(tok()->token_id("no such token"), std::nullopt);
  EXPECT_EQ(tok()->bos_id(), std::nullopt);
  EXPECT_EQ(tok()->eos_id(), 2);
  EXPECT_EQ(tok()->pad_id(), 2);
  EXPECT_EQ(tok_bos()->bos_id(), 3);
}

TEST(Tokenizer, VocabularyCountsTheAddedTokens) { EXPECT_EQ(tok()->vocab_size(), 384); }

// Hugging Face pads and cuts by its own arguments, never because tokenizer.json says so.
TEST(Tokenizer, PaddingAndTruncationOfTheFileAreLeftOut) {
  Json json = read_json(data_path("tok/tokenizer.json"));
  json["truncation"] = {
      {"direction", "Right"}, {"max_length", 2}, {"strategy", "LongestFirst"}, {"stride", 0}};
  json["padding"] = {{"strategy", {{"Fixed", 40}}},
                     {"direction", "Right"},
                     {"pad_to_multiple_of", nullptr},
                     {"pad_id", 0},
                     {"pad_type_id", 0},
                     {"pad_token", "<|endoftext|>"}};
  TempFolder folder;
  folder.write("tokenizer.json", json.dump());
  EXPECT_EQ(Tokenizer::from_pretrained(folder.path())->encode("name a river."),
            tok()->encode("name a river."));
}

TEST(Tokenizer, SpecialTokensMayBeObjectsOrInTheirOwnFile) {
  TempFolder folder;
  folder.write("tokenizer.json", read_json(data_path("tok/tokenizer.json")).dump())
      .write("tokenizer_config.json",
             R"({"eos_token": {"content": "<|im_end|>", "lstrip": false}, "pad_token": null})")
      .write("special_tokens_map.json", R"({"bos_token": {"content": "<|bos|>"}})");
  const auto tokenizer = Tokenizer::from_pretrained(folder.path());
  EXPECT_EQ(tokenizer->eos_id(), 2);
  EXPECT_EQ(tokenizer->bos_id(), 3);
  EXPECT_EQ(tokenizer->pad_id(), std::nullopt);
}

TEST(Tokenizer, SeveralThreadsMayEncodeAtOnce) {
  const auto tokenizer = tok_bos();
  const auto expected = tokenizer->encode("the rhine is a river in europe.");
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i)
        equal[thread] += tokenizer->encode("the rhine is a river in europe.") == expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(equal, ::testing::Each(200));
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT([] { tok()->encode("ab\xFF"); }, ThrowsMessage<DataError>(HasSubstr("not UTF-8")));
}

TEST(Tokenizer, SaysWhichFileIsNotThere) {
  TempFolder folder;
  EXPECT_THAT([&] { Tokenizer::from_pretrained(folder.path()); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("tokenizer.json"), HasSubstr("not there"))));
}

TEST(Tokenizer, SaysWhereATokenizerFileIsBroken) {
  TempFolder folder;
  folder.write("tokenizer.json", "{\"version\": \"1.0\",\n \"model\": }");
  EXPECT_THAT([&] { Tokenizer::from_pretrained(folder.path()); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr(folder.path()), HasSubstr("line 2"))));
}

TEST(Tokenizer, SaysWhatIsWrongInTheConfig) {
  TempFolder folder;
  folder.write("tokenizer.json", read_json(data_path("tok/tokenizer.json")).dump())
      .write("tokenizer_config.json", R"({"chat_template": 7})");
  EXPECT_THAT(
      [&] { Tokenizer::from_pretrained(folder.path()); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("tokenizer_config.json"), HasSubstr("chat_template"))));
}

}  // namespace
}  // namespace lockstep::text
