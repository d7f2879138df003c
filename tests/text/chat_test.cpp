// The public bug cases about chats (tests/data/text/text_cases.json): text, ids and mask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/text/tokenizer.h"
#include "tests/text/temp_folder.h"
#include "tests/text/text_data.h"

namespace lockstep::text {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Json& cases() {
  static const Json all = read_json(data_path("text_cases.json"));
  return all;
}

// The small tokenizer with another chat template.
class TokWithTemplate {
 public:
  explicit TokWithTemplate(const std::string& chat_template) {
    folder_.copy(data_path("tok")).write("chat_template.jinja", chat_template);
    tokenizer_ = Tokenizer::from_pretrained(folder_.path());
  }
  const Tokenizer* operator->() const { return tokenizer_.get(); }

 private:
  TempFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

// '1' trained, '0' not. A '?' in `expected`, the newline after a turn's end, takes either.
std::string mask_text(const RenderedChat& chat, const std::string& expected) {
  std::string mask;
  for (const uint8_t trained : chat.trained) mask += trained ? '1' : '0';
  for (size_t i = 0; i < std::min(mask.size(), expected.size()); ++i)
    if (expected[i] == '?') mask[i] = '?';
  return mask;
}

void expect_as_in_case(const RenderedChat& chat, const Json& expected) {
  if (expected.contains("rendered")) {
    EXPECT_EQ(chat.text, expected["rendered"]);
  }
  EXPECT_EQ(chat.ids, expected["ids"].get<std::vector<TokenId>>());
  const std::string mask = expected.value(expected.contains("mask") ? "mask" : "mask_full", "");
  EXPECT_EQ(mask_text(chat, mask), mask);
}

TEST(ChatCases, T01_OneBosWhenTemplateAndPostProcessorBothAddOne) {
  const auto tokenizer = Tokenizer::from_pretrained(data_path("tok_bos"));
  expect_as_in_case(tokenizer->render_chat(cases()["T01"]["messages"]), cases()["T01"]);
}

TEST(ChatCases, T03_MaskOfAnAssistantTurnBeforeItIsCut) {
  const Json& expected = cases()["T03"];
  const TokWithTemplate tokenizer(expected["chat_template"]);
  const RenderedChat chat = tokenizer->render_chat(expected["messages"]);
  expect_as_in_case(chat, expected);
  const std::string cut = expected["mask_cut"];
  EXPECT_EQ(mask_text(chat, "").substr(0, cut.size()), cut);
}

TEST(ChatCases, T05_DefaultSystemPromptComesOnceAndIsNotTrained) {
  const Json& expected = cases()["T05"];
  const TokWithTemplate tokenizer(expected["chat_template"]);
  expect_as_in_case(tokenizer->render_chat(expected["messages"]), expected);
}

TEST(ChatCases, T05_EmptySystemMessageStaysEmpty) {
  const Json& expected = cases()["T05"];
  const TokWithTemplate tokenizer(expected["chat_template"]);
  Json messages = {{{"role", "system"}, {"content", ""}}};
  messages.push_back(expected["messages"][0]);
  messages.push_back(expected["messages"][1]);
  EXPECT_EQ(tokenizer->render_chat(messages).text, expected["with_empty_system"]);
}

TEST(ChatCases, T08_ToolsAreWrittenAsPythonWritesThem) {
  const Json& expected = cases()["T08"];
  const TokWithTemplate tokenizer(expected["chat_template"]);
  EXPECT_EQ(tokenizer->render_prompt(expected["messages"], expected["tools"]), expected["rendered"]);
}

TEST(ChatCases, T10_EndOfTurnIsTrainedThoughItIsThePaddingToo) {
  const auto tokenizer = Tokenizer::from_pretrained(data_path("tok"));
  for (const Json& row : cases()["T10"]["rows"])
    expect_as_in_case(tokenizer->render_chat(row["messages"]), row);
}

TEST(ChatCases, T12_TemplateFileWinsOverTheConfig) {
  TempFolder folder;
  folder.copy(data_path("tok_two_templates"))
      .write("tokenizer.json", read_json(data_path("tok/tokenizer.json")).dump());
  const auto tokenizer = Tokenizer::from_pretrained(folder.path());
  EXPECT_EQ(tokenizer->render_prompt({{{"role", "user"}, {"content", "q"}}}), cases()["T12"]["two"]);
}

TEST(ChatCases, T12_NamedTemplatesAreChosenByTools) {
  TempFolder folder;
  folder.copy(data_path("tok_named_templates"))
      .write("tokenizer.json", read_json(data_path("tok/tokenizer.json")).dump());
  const auto tokenizer = Tokenizer::from_pretrained(folder.path());
  const Json messages = {{{"role", "user"}, {"content", "q"}}};
  EXPECT_EQ(tokenizer->render_prompt(messages), cases()["T12"]["named_no_tools"]);
  EXPECT_EQ(tokenizer->render_prompt(messages, Json::array({Json::object()})),
            cases()["T12"]["named_with_tools"]);
}

TEST(ChatCases, T13_GenerationMarksRenderAsNothingAndGiveTheMask) {
  const Json& expected = cases()["T13"];
  const TokWithTemplate tokenizer(expected["chat_template"]);
  expect_as_in_case(tokenizer->render_chat(expected["messages"]), expected);
}

}  // namespace
}  // namespace lockstep::text
