// The public bug cases about chats (tests/data/text/text_cases.json): text, ids and mask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/text/tokenizer.h"
#include "tests/text/temp_folder.h"
#include "tests/text/text_data.h"
#include "tests/text/tok_with_template.h"

namespace lockstep::text {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Json& cases() {
  static const Json all = read_json(data_path("text_cases.json"));
  return all;
}

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

TEST(Chat, NullsAreAbsentAndReasoningGoesByEachName) {
  const TokWithTemplate tokenizer(
      "{% for m in messages %}{{ m.content is defined }}{{ m.reasoning_content }}{{ m.thinking }};{% endfor "
      "%}");
  Json messages = {{{"role", "user"}, {"content", nullptr}},
                   {{"role", "tool"}, {"content", ""}, {"reasoning", "r"}}};
  EXPECT_EQ(tokenizer->render_prompt(messages), "False;Truerr;");
}

TEST(Chat, TemplateSeesTheSpecialTokensAndThePrompt) {
  const TokWithTemplate tokenizer(
      "{{ eos_token }}{{ bos_token is defined }}{{ add_generation_prompt }}{{ tools }}");
  EXPECT_EQ(tokenizer->render_prompt({{{"role", "user"}}}), "<|im_end|>FalseTrueNone");
}

TEST(Chat, TemplatesOfAdditionalFilesGoByTheirNames) {
  TempFolder folder;
  folder.copy(data_path("tok"))
      .write("chat_template.jinja", "plain")
      .write("additional_chat_templates/tool_use.jinja", "with tools");
  const auto tokenizer = Tokenizer::from_pretrained(folder.path());
  EXPECT_EQ(tokenizer->render_prompt({{{"role", "user"}}}), "plain");
  EXPECT_EQ(tokenizer->render_prompt({{{"role", "user"}}}, Json::array()), "with tools");
}

TEST(Chat, WhatATemplateRefusesIsADataErrorWithItsWords) {
  const TokWithTemplate tokenizer("\n{{ raise_exception('roles must alternate') }}");
  EXPECT_THAT(
      [&] {
        tokenizer->render_chat({{{"role", "user"}}});
      },
      ThrowsMessage<DataError>(
          AllOf(HasSubstr("chat_template.jinja"), HasSubstr("line 2: roles must alternate"))));
}

TEST(Chat, MessagesThatAreNoneAreRefusedByPlace) {
  const TokWithTemplate tokenizer("x");
  const auto refuses = [&](const Json& messages, const char* why) {
    EXPECT_THAT([&] { tokenizer->render_chat(messages); }, ThrowsMessage<DataError>(HasSubstr(why)));
  };
  refuses(Json::array(), "an empty list");
  refuses("hello", "got string");
  refuses(nullptr, "got null");
  refuses({{{"role", "user"}}, "hello"}, "messages[1]");
  refuses({{{"role", 3}}}, "messages[0]");
  refuses({{{"role", "user"}, {"content", "\xFF"}}}, "not UTF-8");
}

TEST(Chat, WithoutATemplateTheErrorSaysWhereToPutOne) {
  TempFolder folder;
  folder.write("tokenizer.json", read_json(data_path("tok/tokenizer.json")).dump());
  const auto tokenizer = Tokenizer::from_pretrained(folder.path());
  EXPECT_FALSE(tokenizer->has_chat_template());
  EXPECT_THAT(
      [&] {
        tokenizer->render_chat({{{"role", "user"}}});
      },
      ThrowsMessage<ConfigError>(HasSubstr("chat_template.jinja")));
}

TEST(Chat, ABrokenTemplateDoesNotKeepPlainTextFromTraining) {
  const TokWithTemplate tokenizer("line one\n{% if %}");
  EXPECT_FALSE(tokenizer->encode("blue.").empty());
  EXPECT_THAT(
      [&] {
        tokenizer->render_chat({{{"role", "user"}}});
      },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("chat_template.jinja"), HasSubstr("line 2"))));
}

TEST(Chat, AnEndlessTemplateIsStopped) {
  const TokWithTemplate tokenizer(
      "{% for a in range(99999) %}{% for b in range(99999) %}{% set x = a %}{% endfor %}{% endfor %}");
  EXPECT_THAT(
      [&] {
        tokenizer->render_prompt({{{"role", "user"}}});
      },
      ThrowsMessage<DataError>(HasSubstr("fuel")));
}

}  // namespace
}  // namespace lockstep::text
