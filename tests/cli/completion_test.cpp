#include <gmock/gmock.h>

#include "lockstep/cli/completion_script.h"
#include "lockstep_program.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// What bash would offer for the last of `words`.
std::string offered(const std::string& words) {
  const auto finished =
      shell("compopt() { :; }; source <(lockstep completion bash); COMP_WORDS=(" + words +
            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lockstep; echo \" ${COMPREPLY[*]} \"");
  return finished.err.empty() ? finished.out : finished.err;
}

TEST(Completion, BashOffersCommandsAndOptionsOfThePlace) {
  EXPECT_THAT(offered("lockstep ''"), HasSubstr(" train submit jobs cluster checkpoints replay recipe "
                                                "transport doctor image bench begin show-events "
                                                "version completion --help "));
  EXPECT_THAT(offered("lockstep recipe sh"), HasSubstr(" show "));
  EXPECT_THAT(offered("lockstep train x.yaml --d"), HasSubstr(" --dry-run "));
  EXPECT_THAT(offered("lockstep train --d"), Not(HasSubstr("--json")));
}

TEST(Completion, BashOffersTheRecipesKeysWhereARecipeIsTaken) {
  EXPECT_THAT(offered("lockstep transport check optimizer.l"), Not(HasSubstr("optimizer.lr=")));
  EXPECT_THAT(offered("lockstep train x.yaml optimizer.l"), HasSubstr(" optimizer.lr= "));
}

TEST(Completion, BashOffersTheClustersKeysWhereItsSettingsAreTaken) {
  EXPECT_THAT(offered("lockstep cluster plan x.yaml image.r"), HasSubstr(" image.reference= "));
  EXPECT_THAT(offered("lockstep cluster plan x.yaml optimizer.l"), Not(HasSubstr("optimizer.lr=")));
  EXPECT_THAT(offered("lockstep cluster submit x.yaml optimizer.l"), HasSubstr(" optimizer.lr= "));
}

class CompletionScripts : public testing::TestWithParam<const char*> {};

TEST_P(CompletionScripts, Parse) {
  const std::string name = GetParam();
  if (shell("command -v " + name).exit_code != 0) GTEST_SKIP() << name << " is not installed";
  const auto parsed = shell("lockstep completion " + name + " | " + name + " -n /dev/stdin");
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  EXPECT_EQ(parsed.err, "");
}

INSTANTIATE_TEST_SUITE_P(Shells, CompletionScripts, testing::Values("bash", "zsh", "fish"),
                         [](const auto& info) { return info.param; });

TEST(Completion, WordsWithSpecialCharactersAreQuoted) {
  const std::vector<CompletionNode> tree = {{"tool", {{"it's", "a: b's"}}}};
  EXPECT_THAT(bash_completion(tree), HasSubstr(R"('it'\''s')"));
  EXPECT_THAT(zsh_completion(tree), HasSubstr(R"('it'\''s:a: b'\''s')"));
  EXPECT_THAT(fish_completion(tree), HasSubstr(R"(-a 'it'\''s' -d 'a: b'\''s')"));
}

}  // namespace
}  // namespace lockstep::cli
