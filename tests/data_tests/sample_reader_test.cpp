#include "lockstep/data/sample_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string_view>

#include "lockstep/data/jsonl.h"
#include "tests/data_tests/fixtures.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

SampleReader text_reader() { return {{.shape = "text"}, character_tokenizer()}; }
SampleReader chat_reader(const std::string& train_on = "assistant") {
  return {{.shape = "messages", .train_on = train_on}, chat_tokenizer()};
}

Json chat(const char* content) {
  return {{"messages",
           {{{"role", "user"}, {"content", "hello"}}, {{"role", "assistant"}, {"content", content}}}}};
}

TEST(SampleReader, TextEndsWithEosAndIsTrainedInFull) {
  const auto sample = text_reader().read({{"text", "abc"}}, "here");
  EXPECT_THAT(sample.ids, ElementsAre(2, 3, 4, 0));
  EXPECT_THAT(sample.trained, ElementsAre(1, 1, 1, 1));
}

TEST(SampleReader, AnEosThatIsThereIsNotRepeated) {
  EXPECT_THAT(text_reader().read({{"text", "abc<e>"}}, "here").ids, ElementsAre(2, 3, 4, 0));
}

TEST(SampleReader, ChatsAreTheTemplatesTokensWithTheAssistantTrained) {
  const auto cases = Json::parse(std::ifstream(input("text/text_cases.json")));
  for (const Json& row : cases["T10"]["rows"]) {
    const auto sample = chat_reader().read(row, "here");
    EXPECT_EQ(sample.ids, row["ids"].get<std::vector<int32_t>>());
    const auto mask = row["mask"].get<std::string>();
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != '?') {
        EXPECT_EQ(sample.trained[i], mask[i] - '0') << "token " << i;
      }
    }
  }
}

TEST(SampleReader, TrainOnAllTrainsEveryTokenOfAChat) {
  EXPECT_THAT(chat_reader("all").read(chat("blue."), "here").trained, Not(::testing::Contains(0)));
}

// Public case D08: a column that is null in some rows reached the template as "None".
TEST(SampleReader, NullFieldsAreAbsent) {
  std::vector<Sample> samples;
  read_jsonl(input("data/d08.jsonl"), [&](int64_t line, const Json& record) {
    samples.push_back(chat_reader().read(record, record_place("d08.jsonl", line)));
  });
  ASSERT_EQ(samples.size(), 3);
  for (const auto& sample : samples) {
    const auto text = chat_tokenizer().decode(sample.ids);
    EXPECT_THAT(text, Not(HasSubstr("None")));
    EXPECT_THAT(text, Not(HasSubstr("null")));
  }
  // The first row without its nulls is the same sample.
  EXPECT_EQ(samples[0].ids, chat_reader().read(chat("blue."), "here").ids);
  EXPECT_EQ(samples[0].content_hash, chat_reader().read(chat("blue."), "here").content_hash);
  // A call without text says nothing, as with empty text.
  EXPECT_THAT(chat_tokenizer().decode(samples[2].ids), HasSubstr("<|im_start|>assistant\n<|im_end|>"));
}

TEST(SampleReader, ContentHashDoesNotDependOnTheOrderOfFields) {
  const Json swapped = {
      {"messages",
       {{{"content", "hello"}, {"role", "user"}}, {{"content", "blue."}, {"role", "assistant"}}}}};
  EXPECT_EQ(chat_reader().read(swapped, "here").content_hash,
            chat_reader().read(chat("blue."), "here").content_hash);
  EXPECT_NE(chat_reader().read(chat("red."), "here").content_hash,
            chat_reader().read(chat("blue."), "here").content_hash);
}

TEST(SampleReader, SaysWhichFieldIsMissingAndWhatWouldFit) {
  const auto refusal = [](const SampleReader& reader, const Json& record) {
    return message_of<DataError>([&] { reader.read(record, "data: f.jsonl:7"); });
  };
  EXPECT_THAT(refusal(text_reader(), {{"body", "x"}}),
              HasSubstr("data: f.jsonl:7: no field 'text' (fields: body)"));
  EXPECT_THAT(refusal(text_reader(), {{"text", nullptr}}), HasSubstr("no field 'text'"));
  EXPECT_THAT(refusal(text_reader(), chat("x")), HasSubstr("set data.shape=messages"));
  EXPECT_THAT(refusal(chat_reader(), {{"text", "x"}}), HasSubstr("set data.shape=text"));
  EXPECT_THAT(refusal(text_reader(), {{"text", 5}}), HasSubstr("'text' is number, not a string"));
}

TEST(SampleReader, SaysWhichMessageIsWrong) {
  const auto refusal = [](const Json& messages) {
    return message_of<DataError>([&] { chat_reader().read({{"messages", messages}}, "data: f.jsonl:7"); });
  };
  EXPECT_THAT(refusal(Json::array()),
              HasSubstr("f.jsonl:7: 'messages' must be a list of at least one message"));
  EXPECT_THAT(refusal({{{"role", "user"}, {"content", "a"}}, {{"content", "b"}}}),
              HasSubstr("messages[1] must be"));
  EXPECT_THAT(refusal({{{"role", "assistant"}, {"content", nullptr}}}),
              HasSubstr("messages[0] (role 'assistant') has neither content nor tool_calls"));
}

TEST(SampleReader, RefusesSettingsItCannotServe) {
  EXPECT_THAT(message_of<ConfigError>([] { SampleReader({.shape = "messages"}, character_tokenizer()); }),
              HasSubstr("messages need a chat template"));
  EXPECT_THAT(message_of<ConfigError>([] { SampleReader({.shape = "prompt_completion"}, chat_tokenizer()); }),
              HasSubstr("not supported yet"));
  EXPECT_THAT(message_of<ConfigError>([] { chat_reader("user"); }), HasSubstr("use assistant or all"));
}

}  // namespace
}  // namespace lockstep::data
