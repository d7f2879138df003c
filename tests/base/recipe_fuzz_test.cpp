// Whatever comes as a recipe is a Recipe or a ConfigError: never a crash, a hang or another error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "lockstep/base/error.h"
#include "lockstep/base/recipe.h"
#include "lockstep/base/recipe_keys.h"
#include "tests/base/temporary_folder.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

// Seeded, so that a failure comes again; `input` is printed with it.
void expect_recipe_or_refusal(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  try {
    const Recipe recipe = Recipe::parse(yaml, "fuzz", overrides);
    EXPECT_FALSE(recipe.effective().dump().empty());
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << " for "
                  << Json(yaml).dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  size_t below(size_t bound) { return engine_() % bound; }
  char byte() { return static_cast<char>(below(256)); }
  template <typename T>
  const T& of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937 engine_;
};

const std::vector<std::string>& awkward_values() {
  static const std::vector<std::string> values = {"",
                                                  "null",
                                                  "~",
                                                  "[]",
                                                  "{}",
                                                  "[[[]]]",
                                                  "{a: {b: c}}",
                                                  "-1",
                                                  "0",
                                                  "1e308",
                                                  "1e309",
                                                  ".inf",
                                                  "'",
                                                  "\"\\x00\"",
                                                  "\"\\uD800\"",
                                                  "18446744073709551616",
                                                  "auto",
                                                  "true",
                                                  "[1, 2]",
                                                  "[a, [b]]",
                                                  "!!binary aGk=",
                                                  "!!int x",
                                                  "&a [*a]",
                                                  "*nothing",
                                                  "|\n  text",
                                                  "<<: *a",
                                                  "? x",
                                                  "random",
                                                  "jsonl",
                                                  "[{path: a.jsonl, weight: 1}]",
                                                  "[null]",
                                                  "m",
                                                  "1m",
                                                  "\xc3\xa4",
                                                  "\xed\xa0\x80",
                                                  "- - - a",
                                                  "--- b",
                                                  "... ",
                                                  "#",
                                                  "%YAML 9.9",
                                                  "@x",
                                                  "`x",
                                                  "[1, [2",
                                                  "}",
                                                  "0.5",
                                                  "elastic"};
  return values;
}

TEST(RecipeFuzz, RandomBytes) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text(random.below(200), ' ');
    for (char& c : text) c = random.byte();
    expect_recipe_or_refusal(text);
  }
}

TEST(RecipeFuzz, RandomYamlMarks) {
  Random random(2);
  const std::string marks = "[]{}:,-?&*!|>'\"%@`#\n\n  \tab0.~";
  for (int i = 0; i < 5000; ++i) {
    std::string text = "name: ";
    for (size_t left = random.below(60); left > 0; --left) text += marks[random.below(marks.size())];
    expect_recipe_or_refusal(text);
  }
}

TEST(RecipeFuzz, ChangedBytesOfARealRecipe) {
  Random random(3);
  const std::string whole = read_file(source_path("examples/demo.yaml"));
  ASSERT_FALSE(whole.empty());
  for (int i = 0; i < 1500; ++i) {
    std::string text = whole;
    for (size_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
      const size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = random.byte();
          break;
        case 1:
          text.erase(at, 1 + random.below(20));
          break;
        case 2:
          text.insert(at, random.of(awkward_values()));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    expect_recipe_or_refusal(text);
  }
}

TEST(RecipeFuzz, EveryKeyWithEveryAwkwardValue) {
  for (const std::string& key : paths_of(recipe_keys())) {
    for (const std::string& value : awkward_values()) {
      expect_recipe_or_refusal("name: x\ndata.source: random\ntrain.steps: 1\n", {key + "=" + value});
      expect_recipe_or_refusal(key + ": " + value + "\n");
    }
  }
}

TEST(RecipeFuzz, SeveralKeysWithRandomValues) {
  Random random(4);
  const std::vector<std::string> keys = paths_of(recipe_keys());
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (size_t left = 1 + random.below(6); left > 0; --left) {
      text += random.of(keys) + ": " + random.of(awkward_values()) + "\n";
    }
    expect_recipe_or_refusal(text);
  }
}

TEST(RecipeFuzz, WhatFollowsTheDocumentEndsTheReading) {
  for (const char* more : {"]", "}", ",", "- [a", "... ]", "%x\n,*#~?|>%!\"\"-|{]a.:\n"}) {
    expect_recipe_or_refusal(std::string("name: x\n") + more);
    expect_recipe_or_refusal(std::string("name: # x\n") + more);
  }
}

TEST(RecipeFuzz, DeepNestingIsRefused) {
  for (const char* open : {"[", "{a: ", "- ", "? ", "&a [", "!t [", "'", "{", "{? "}) {
    std::string text = "run.tags: ";
    for (int depth = 0; depth < 20000; ++depth) text += open;
    expect_recipe_or_refusal(text);
  }
}

TEST(RecipeFuzz, AliasesThatGrowAreRefusedWithoutFollowingThem) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) text += fmt::format("a{}: &a{} [*a{}, *a{}]\n", i, i, i - 1, i - 1);
  expect_recipe_or_refusal(text + "name: *a39\n");
  expect_recipe_or_refusal("name: x\nrun:\n  tags: &t [a, *t]\n");
}

}  // namespace
}  // namespace lockstep
