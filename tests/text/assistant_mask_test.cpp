// The mask without {% generation %} marks, over the ways in which chat templates are irregular.
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

const char* const kTurns =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
const char* const kPrompt = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

Json chat(std::initializer_list<const char*> contents) {
  Json messages = Json::array();
  for (const char* content : contents)
    messages.push_back({{"role", messages.size() % 2 == 0 ? "user" : "assistant"}, {"content", content}});
  return messages;
}

// The chat's text with what is trained in [brackets].
std::string bracketed(const TokWithTemplate& tokenizer, const Json& messages) {
  const RenderedChat rendered = tokenizer->render_chat(messages);
  std::string text;
  bool inside = false;
  for (size_t i = 0; i < rendered.ids.size(); ++i) {
    if (rendered.trained[i] != inside) text += inside ? "]" : "[";
    inside = rendered.trained[i];
    text += tokenizer->decode({rendered.ids[i]});
  }
  return text + (inside ? "]" : "");
}

const char* const kBracketedTwoTurns =
    "<|im_start|>user\nname a river.<|im_end|>\n<|im_start|>assistant\n[the rhine.<|im_end|>]\n"
    "<|im_start|>user\ncolour?<|im_end|>\n<|im_start|>assistant\n[blue.<|im_end|>]\n";

TEST(AssistantMask, ContentAndEndOfTurnOfEachTurn) {
  const TokWithTemplate tokenizer(std::string(kTurns) + kPrompt);
  EXPECT_EQ(bracketed(tokenizer, chat({"name a river.", "the rhine.", "colour?", "blue."})),
            kBracketedTwoTurns);
}

TEST(AssistantMask, TemplateThatKnowsNoGenerationPromptStillTrainsNoHeader) {
  const TokWithTemplate tokenizer(kTurns);
  EXPECT_EQ(bracketed(tokenizer, chat({"name a river.", "the rhine.", "colour?", "blue."})),
            kBracketedTwoTurns);
}

TEST(AssistantMask, TemplateThatAlwaysWritesTheGenerationPromptTrainsNoHeader) {
  const TokWithTemplate tokenizer(std::string(kTurns) + "{{ '<|im_start|>assistant\\n' }}");
  EXPECT_EQ(bracketed(tokenizer, chat({"name a river.", "the rhine.", "colour?", "blue."})),
            std::string(kBracketedTwoTurns) + "<|im_start|>assistant\n");
}

TEST(AssistantMask, TemplateWithoutHeadersTrainsTheSpaceOfTheFirstWord) {
  const TokWithTemplate tokenizer(
      "{% for m in messages %}{% if m.role == 'user' %}(ask) {{ m.content }} (answer){% else %} {{ m.content "
      "}}"
      "<|endoftext|>{% endif %}{% endfor %}");
  EXPECT_EQ(bracketed(tokenizer, chat({"colour?", "the sky.", "colour?", "blue."})),
            "(ask) colour? (answer)[ the sky.<|endoftext|>](ask) colour? (answer)[ blue.<|endoftext|>]");
}

TEST(AssistantMask, TemplateThatRefusesHalfAChatIsAskedByContent) {
  const TokWithTemplate tokenizer(
      "{% if messages | length % 2 == 1 %}{{ raise_exception('whole chats only') }}{% endif %}" +
      std::string(kTurns));
  EXPECT_EQ(bracketed(tokenizer, chat({"name a river.", "the rhine.", "colour?", "blue."})),
            kBracketedTwoTurns);
}

TEST(AssistantMask, EndOfChatTokenAfterTheLastTurnOnlyIsTrainedThere) {
  const TokWithTemplate tokenizer(
      "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% if loop.last %}<|endoftext|>{% endif %}{% "
      "endfor %}"
      "{% if add_generation_prompt %}assistant:{% endif %}");
  EXPECT_EQ(bracketed(tokenizer, chat({"colour?", "blue."})),
            "user: colour?\nassistant:[ blue.\n<|endoftext|>]");
  EXPECT_THAT(
      [&] {
        tokenizer->render_chat(chat({"colour?", "blue.", "colour?", "blue."}));
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("messages[1]"), HasSubstr("ambiguous"))));
}

TEST(AssistantMask, TurnThatChangesOnceMoreFollowsEndsWithItsToken) {
  const TokWithTemplate tokenizer(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' and loop.last "
      "%}<think></think>"
      "{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}" +
      std::string(kPrompt));
  EXPECT_EQ(bracketed(tokenizer, chat({"name a river.", "the rhine.", "colour?", "blue."})),
            "<|im_start|>user\nname a river.<|im_end|>\n<|im_start|>assistant\n[the rhine.<|im_end|>]\n"
            "<|im_start|>user\ncolour?<|im_end|>\n<|im_start|>assistant\n[<think></think>blue.<|im_end|>]\n");
}

TEST(AssistantMask, ToolCallsAreWhatTheAssistantSays) {
  const TokWithTemplate tokenizer(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' and loop.last "
      "%}<think></think>"
      "{% endif %}{{ m.content }}{% for c in m.tool_calls %}{{ c | tojson }}{% endfor %}<|im_end|>\n{% "
      "endfor %}" +
      std::string(kPrompt));
  Json messages = chat({"colour?", ""});
  messages[1]["content"] = nullptr;
  messages[1]["tool_calls"] = Json::array({{{"name", "look"}}});
  messages.push_back({{"role", "tool"}, {"content", "blue"}});
  messages.push_back({{"role", "assistant"}, {"content", "blue."}});
  EXPECT_EQ(bracketed(tokenizer, messages),
            "<|im_start|>user\ncolour?<|im_end|>\n<|im_start|>assistant\n[{\"name\": \"look\"}<|im_end|>]\n"
            "<|im_start|>tool\nblue<|im_end|>\n<|im_start|>assistant\n[<think></think>blue.<|im_end|>]\n");
}

TEST(AssistantMask, AnEndOfTurnWrittenInTheContentIsTrainedWithIt) {
  const TokWithTemplate tokenizer(std::string(kTurns) + kPrompt);
  EXPECT_EQ(bracketed(tokenizer, chat({"colour?", "a<|im_end|>b"})),
            "<|im_start|>user\ncolour?<|im_end|>\n<|im_start|>assistant\n[a<|im_end|>b<|im_end|>]\n");
}

TEST(AssistantMask, EmptyAnswerTrainsItsEndOfTurn) {
  const TokWithTemplate tokenizer(std::string(kTurns) + kPrompt);
  EXPECT_EQ(bracketed(tokenizer, chat({"colour?", ""})),
            "<|im_start|>user\ncolour?<|im_end|>\n<|im_start|>assistant\n[<|im_end|>]\n");
}

TEST(AssistantMask, ChatThatTheAssistantBeginsOrDoesNotSpeakIn) {
  const TokWithTemplate tokenizer("{% if messages[0]['role'] == 'system' %}{% endif %}" +
                                  std::string(kTurns) + kPrompt);
  EXPECT_EQ(bracketed(tokenizer, {{{"role", "assistant"}, {"content", "blue."}}}),
            "<|im_start|>assistant\n[blue.<|im_end|>]\n");
  EXPECT_EQ(bracketed(tokenizer, chat({"colour?"})), "<|im_start|>user\ncolour?<|im_end|>\n");
}

TEST(AssistantMask, TrainOnAllNeedsNoMask) {
  const TokWithTemplate tokenizer("{% for m in messages %}{{ m.content | upper }} {% endfor %}");
  const auto rendered = tokenizer->render_chat(chat({"a", "b", "c", "d"}), nullptr, TrainOn::kAll);
  EXPECT_EQ(rendered.text, "A B C D ");
  EXPECT_THAT(rendered.trained, ::testing::Each(1));
  EXPECT_EQ(rendered.trained.size(), rendered.ids.size());
}

}  // namespace
}  // namespace lockstep::text
