// Broken files never crash the program: whatever a tokenizer.json or a chat template holds, there is
// a result or an error. Run under the asan preset, too. The random numbers are the same in each run.
#include <gtest/gtest.h>

#include <random>

#include "lockstep/base/error.h"
#include "lockstep/text/chat_template.h"
#include "lockstep/text/rust_tokenizer.h"
#include "tests/text/text_data.h"

namespace lockstep::text {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  // In 0 .. sides - 1.
  size_t roll(size_t sides) { return std::uniform_int_distribution<size_t>(0, sides - 1)(engine_); }

 private:
  std::mt19937 engine_;
};

// Every value inside `json`, itself included.
void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (json.is_structured())
    for (Json& child : json) collect(child, values);
}

Json with_another_value(Json json, Dice& dice) {
  std::vector<Json*> values;
  collect(json, values);
  // Vocabulary entries would drown everything else: mostly take from the rest.
  Json* chosen = values[dice.roll(dice.roll(4) == 0 ? values.size() : 80)];
  const Json replacements[] = {nullptr, true,          0,     -1, 4294967295u, 1e300,  "",
                               "é",     Json::array(), "ABC", {}, "(",         "\\p{", Json::object()};
  *chosen = replacements[dice.roll(std::size(replacements))];
  return json;
}

std::string with_other_bytes(std::string text, Dice& dice) {
  for (size_t count = 1 + dice.roll(3); count > 0 && !text.empty(); --count) {
    const size_t place = dice.roll(text.size());
    switch (dice.roll(3)) {
      case 0:
        text[place] = static_cast<char>(dice.roll(256));
        break;
      case 1:
        text.erase(place, 1 + dice.roll(20));
        break;
      default:
        text.insert(place, text.substr(dice.roll(text.size()), dice.roll(20)));
    }
  }
  return text;
}

// Uses a tokenizer if the file makes one; whether it does.
bool makes_a_tokenizer(const std::string& json) {
  try {
    const RustTokenizer tokenizer(json, "tokenizer.json");
    const auto tokens =
        tokenizer.encode_with_places("name a <|im_end|> river é\xF0\x9F\x99\x82\n\n 12", true);
    std::vector<TokenId> ids;
    for (const PlacedToken& token : tokens) ids.push_back(token.id & 0x7fffffff);
    tokenizer.decode(ids, false);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool renders(const std::string& chat_template, const std::string& variables) {
  try {
    ChatTemplate(chat_template, "here").render(variables);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Fuzz, MutatedTokenizerFilesGiveAResultOrAnError) {
  Dice dice(1);
  const Json whole = read_json(data_path("tok_bos/tokenizer.json"));
  int made = 0;
  for (int i = 0; i < 400; ++i) made += makes_a_tokenizer(with_another_value(whole, dice).dump());
  for (int i = 0; i < 400; ++i) made += makes_a_tokenizer(with_other_bytes(whole.dump(), dice));
  // Both happen, or the mutations would try nothing.
  EXPECT_GT(made, 50);
  EXPECT_LT(made, 750);
}

TEST(Fuzz, MutatedTemplatesGiveAResultOrAnError) {
  Dice dice(2);
  const Json reference = read_json(data_path("jinja_reference.json"));
  const std::string variables = reference["variables"].dump();
  int rendered = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string chat_template = reference["cases"][dice.roll(reference["cases"].size())]["template"];
    rendered += renders(with_other_bytes(chat_template, dice), variables);
  }
  EXPECT_GT(rendered, 200);
  EXPECT_LT(rendered, 1900);
}

TEST(Fuzz, RandomTemplatesGiveAResultOrAnError) {
  Dice dice(3);
  const char* const pieces[] = {
      "{%",     "%}",    "{{",  "}}",   "{#",      "#}",       "-",          "for",   "x",
      "in",     "if",    "end", "set",  "macro",   "call",     "generation", "raw",   "messages",
      "[",      "]",     "(",   ")",    "|",       "tojson",   "join",       "'",     "\"",
      ".",      ",",     "=",   "~",    "*",       "9",        "\n",         " ",     "é",
      "endfor", "endif", "%",   "with", "endcall", "endmacro", "filter",     "upper", "\\"};
  const std::string variables = R"({"messages": [{"role": "user", "content": "é"}], "x": 3})";
  int rendered = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string chat_template;
    for (size_t count = dice.roll(30); count > 0; --count)
      chat_template += pieces[dice.roll(std::size(pieces))];
    rendered += renders(chat_template, variables);
  }
  EXPECT_GT(rendered, 50);
  EXPECT_LT(rendered, 3900);
}

TEST(Fuzz, DeeplyNestedTemplatesAndMessagesGiveAnError) {
  const std::string variables = R"({"messages": []})";
  EXPECT_FALSE(renders("{{ " + std::string(100000, '(') + "1" + std::string(100000, ')') + " }}", variables));
  EXPECT_FALSE(renders("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", variables));
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_FALSE(renders("x", "{\"messages\": " + deep + "}"));
  EXPECT_FALSE(makes_a_tokenizer("{\"added_tokens\": " + deep + "}"));
}

}  // namespace
}  // namespace lockstep::text
