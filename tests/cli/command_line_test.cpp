#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lockstep/base/json.h"
#include "lockstep_program.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
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
  expect_refusal({"train", "examples/tiny.yaml", "--json", "--quiet"}, "--quiet excludes --json");
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

TEST(CommandLine, ARecipeIsShownAsARecipeThatReadsTheSame) {
  const auto shown = lockstep({"recipe", "show", "examples/tiny.yaml", "train.steps=7"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\n  steps: 7\n"));
  EXPECT_THAT(shown.out, HasSubstr("\n# Not set: "));
  const auto file = std::filesystem::temp_directory_path() / ("lockstep-shown-" + std::to_string(::getpid()));
  std::ofstream(file) << shown.out;
  EXPECT_EQ(lockstep({"recipe", "check", file}).err, "");
  EXPECT_EQ(lockstep({"recipe", "show", file}).out, shown.out);
  std::filesystem::remove(file);
}

TEST(CommandLine, ARecipeIsShownAsJsonForPrograms) {
  const auto shown = lockstep({"recipe", "show", "--json", "examples/tiny.yaml"});
  EXPECT_EQ(Json::parse(shown.out)["train"]["steps"], 20);
}

TEST(CommandLine, MainTurnsAnErrorIntoItsExitCode) {
  const auto finished = shell("lockstep recipe check no-such.yaml");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, StartsWith("lockstep: error: "));
}

TEST(CommandLine, AWorkerWithoutItsPlaceIsRefused) {
  const auto finished = shell("LOCKSTEP_ROLE=worker lockstep train examples/tiny.yaml");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("WORLD_SIZE is not set"));
}

TEST(CommandLine, VersionNamesTheCommit) {
  EXPECT_THAT(lockstep({"--version"}).out, MatchesRegex("[0-9.]+\n"));
  const auto version = lockstep({"version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, MatchesRegex("lockstep [0-9.]+ \\([0-9a-f]{12}.*\\)\n.*torch +2.*"));
}

}  // namespace
}  // namespace lockstep::cli
