#include "lockstep/base/yaml_text.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace lockstep {
namespace {

TEST(YamlText, NestsKeysAndKeepsListsOfPlainValuesInOneLine) {
  EXPECT_EQ(yaml_text({{"name", "tiny"},
                       {"optimizer", {{"lr", 1e-5}, {"betas", {0.9, 0.999}}}},
                       {"data", {{"sources", {{{"path", "a.jsonl"}, {"weight", 1.0}}}}}}}),
            "name: tiny\n"
            "optimizer:\n"
            "  lr: 1e-05\n"
            "  betas: [0.9, 0.999]\n"
            "data:\n"
            "  sources:\n"
            "    - path: a.jsonl\n"
            "      weight: 1.0\n");
}

TEST(YamlText, AStringThatLooksLikeSomethingElseIsQuoted) {
  for (const char* text : {"0.1", "true", "no", "null", "", "~", "1e5", "a: b", "# x", "- x", "2012-10-17",
                           "1:30", "1_000", "plain"}) {
    const YAML::Node read = YAML::Load(yaml_text({{"key", text}}))["key"];
    EXPECT_EQ(read.as<std::string>(), text);
    EXPECT_EQ(read.Tag(), std::string(text) == "plain" ? "?" : "!") << text;
  }
}

TEST(YamlText, NullsAndTruthValuesStay) {
  EXPECT_EQ(yaml_text({{"a", nullptr}, {"b", true}, {"c", 3}}), "a: ~\nb: true\nc: 3\n");
}

}  // namespace
}  // namespace lockstep
