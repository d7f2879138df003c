#include "lockstep/cluster/command_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/temporary_folder.h"

namespace lockstep::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

CommandResult run(const Command& command) { return ProcessRunner().run(command); }

TEST(ProcessRunner, GivesOutputErrorsAndExitCode) {
  const CommandResult result = run({.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"}});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.timed_out);
}

TEST(ProcessRunner, PassesInputAndEnvironment) {
  const std::string input(200'000, 'x');  // more than a pipe holds
  EXPECT_EQ(run({.argv = {"cat"}, .input = input}).out, input);
  EXPECT_EQ(run({.argv = {"sh", "-c", "echo $LOCKSTEP_TEST_A"}, .env = {{"LOCKSTEP_TEST_A", "b c"}}}).out,
            "b c\n");
}

TEST(ProcessRunner, HandsOutputOnAsItComes) {
  std::vector<std::string> pieces;
  // Goes on only once its first line was heard.
  const TemporaryFolder folder;
  const std::string heard = folder / "heard";
  const CommandResult result =
      run({.argv = {"sh", "-c", "echo one; while [ ! -e " + heard + " ]; do sleep 0.01; done; echo two"},
           .on_out = [&](std::string_view text) {
             pieces.emplace_back(text);
             std::ofstream(heard) << "";
           }});
  EXPECT_THAT(pieces, testing::ElementsAre("one\n", "two\n"));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.exit_code, 0);
}

TEST(ProcessRunner, GivesASignalAsAShellDoes) {
  EXPECT_EQ(run({.argv = {"sh", "-c", "kill -9 $$"}}).exit_code, 137);
}

TEST(ProcessRunner, StopsACommandAtItsTimeoutWithAllItStarted) {
  const CommandResult result =
      run({.argv = {"sh", "-c", "echo begun; sleep 1000; echo no"}, .timeout = 200ms});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_EQ(result.out, "begun\n");
}

TEST(ProcessRunner, DoesNotWaitForWhatACommandLeavesBehind) {
  EXPECT_EQ(run({.argv = {"sh", "-c", "sleep 1000 & echo $!"}}).exit_code, 0);
}

TEST(ProcessRunner, IsInterruptedWhenAsked) {
  ProcessRunner runner([] { return true; });
  EXPECT_THROW(runner.run({.argv = {"sleep", "1000"}}), InterruptedError);
}

TEST(ProcessRunner, InTheTerminalOutputIsNotTheResults) {
  testing::internal::CaptureStdout();
  const CommandResult result = run({.argv = {"sh", "-c", "echo out; exit 3"}, .in_terminal = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "out\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THROW(ProcessRunner([] { return true; }).run({.argv = {"sleep", "1000"}, .in_terminal = true}),
               InterruptedError);
}

TEST(CommandLine, HasQuotesWhereAShellNeedsThem) {
  EXPECT_EQ(command_line({.argv = {"aws", "ec2", "--filters", "Name=zone,Values=a", "it's", "a b", ""}}),
            "aws ec2 --filters Name=zone,Values=a 'it'\\''s' 'a b' ''");
}

TEST(FailureLine, IsTheOneMarkedAsAnError) {
  EXPECT_EQ(failure_line("Error: no version 1.20\nsee also: https://example.com\n"),
            "Error: no version 1.20");
  EXPECT_EQ(failure_line("waiting\nError: first\nError: second\n\n"), "Error: second");
  EXPECT_EQ(failure_line("an Error: is told\nlast\n"), "last");
  EXPECT_EQ(failure_line(""), "");
}

TEST(RunOrThrow, TellsTheCommandTheEndAndItsLastWords) {
  ProcessRunner runner;
  EXPECT_EQ(run_or_throw(runner, {.argv = {"echo", "a"}}), "a\n");
  try {
    run_or_throw(runner, {.argv = {"sh", "-c", "echo first >&2; echo last >&2; exit 4"}});
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("sh -c "), HasSubstr("ended with exit code 4: last")));
  }
  EXPECT_THROW(run_or_throw(runner, {.argv = {"sleep", "1000"}, .timeout = 100ms}), CommandError);
}

}  // namespace
}  // namespace lockstep::cluster
