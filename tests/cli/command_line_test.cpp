#include <gmock/gmock.h>

#include "lockstep_program.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// One line on standard error, nothing on standard output, exit code 2.
void expect_refusal(const std::vector<std::string>& arguments, const std::string& words) {
  const auto [exit_code, out, err] = lockstep(arguments);
  EXPECT_EQ(exit_code, 2);
  EXPECT_THAT(out, IsEmpty());
  EXPECT_THAT(err, StartsWith("lockstep: error: "));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_THAT(err, HasSubstr(words));
}

TEST(CommandLine, AMistypedCommandNamesTheNearest) {
  expect_refusal({"trian", "x.yaml"},
                 "lockstep has no command \"trian\": did you mean train? (see lockstep --help)");
  expect_refusal({"recipe", "chekc"}, "lockstep recipe has no command \"chekc\": did you mean check?");
  expect_refusal({"dance"}, "lockstep has no command \"dance\" (see lockstep --help)");
}

TEST(CommandLine, AMistypedOptionNamesTheNearest) {
  expect_refusal({"train", "examples/tiny.yaml", "--dryrun"},
                 "lockstep train has no option --dryrun: did you mean --dry-run?");
  expect_refusal({"--versoin"}, "lockstep has no option --versoin");
}

TEST(CommandLine, AMissingRecipeIsSaid) { expect_refusal({"train"}, "lockstep train: RECIPE is required"); }

TEST(CommandLine, OptionsThatExcludeEachOtherAreRefused) {
  expect_refusal({"train", "examples/tiny.yaml", "--json", "--quiet"}, "--json excludes --quiet");
}

TEST(CommandLine, WithoutACommandHelpIsPrinted) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{}, {"--help"}, {"-h"}}) {
    const auto [exit_code, out, err] = lockstep(arguments);
    EXPECT_EQ(exit_code, 0);
    EXPECT_THAT(out, HasSubstr("train"));
    EXPECT_THAT(out, HasSubstr("Examples:"));
    EXPECT_THAT(err, IsEmpty());
  }
}

TEST(CommandLine, HelpOfACommandShowsHowToCallIt) {
  const auto help = lockstep({"train", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("lockstep train [OPTIONS] RECIPE [KEY=VALUE...]"));
  EXPECT_THAT(lockstep({"recipe"}).out, HasSubstr("check"));
}

TEST(CommandLine, ARecipeThatIsNotThereIsNamed) {
  expect_refusal({"recipe", "check", "no-such.yaml"}, "no-such.yaml");
}

TEST(CommandLine, AWorkerWithoutItsPlaceIsRefused) {
  const auto finished = shell("LOCKSTEP_ROLE=worker lockstep train examples/tiny.yaml");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("WORLD_SIZE is not set"));
}

TEST(CommandLine, VersionNamesTheCommit) {
  const auto version = lockstep({"version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, StartsWith("lockstep 0."));
  EXPECT_THAT(version.out, HasSubstr("\ntorch "));
}

}  // namespace
}  // namespace lockstep::cli
