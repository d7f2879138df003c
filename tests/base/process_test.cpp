#include "lockstep/base/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto kLong = 60s;  // a bound for what must happen, never a measure

ProcessOptions shell(const std::string& script) { return {.argv = {"sh", "-c", script}}; }

std::string drain(FileDescriptor& pipe) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::read(pipe.get(), piece.data(), piece.size());
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
  }
}

std::string output_of(ProcessOptions options) {
  options.standard_output = Output::pipe();
  Process process = Process::start(options);
  return drain(process.stdout_pipe());
}

TEST(Process, TellsTheExitCode) {
  const ExitStatus status = Process::start(shell("exit 3")).wait();
  EXPECT_EQ(status.code, 3);
  EXPECT_FALSE(status.success());
  EXPECT_EQ(status.shell_code(), 3);
  EXPECT_EQ(status.describe(), "exit code 3");
}

TEST(Process, TellsTheSignalThatEndedIt) {
  Process process = Process::start(shell("exec sleep 1000"));
  EXPECT_FALSE(process.poll());
  process.signal(SIGKILL);
  const ExitStatus status = process.wait();
  EXPECT_EQ(status.shell_code(), 137);
  EXPECT_EQ(status.describe(), "signal 9 (SIGKILL)");
}

TEST(Process, WaitingEndsAtItsTimeout) {
  Process process = Process::start(shell("exec sleep 1000"));
  EXPECT_FALSE(process.wait_for(1ms));
  process.signal(SIGTERM);
  EXPECT_TRUE(process.wait_for(kLong));
}

TEST(Process, WaitingForAnyFindsTheOneThatEnded) {
  Process lasting = Process::start(shell("exec sleep 1000"));
  Process ending = Process::start(shell("exit 4"));
  Process* const both[] = {&lasting, &ending};
  EXPECT_EQ(wait_for_any(both, kLong), 1U);
  EXPECT_EQ(ending.poll()->code, 4);
  EXPECT_FALSE(lasting.poll());
}

TEST(Process, ProgramThatIsNotThereIsNamed) {
  try {
    Process::start({.argv = {"no-such-program"}});
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot start no-such-program: No such file or directory"));
  }
}

TEST(Process, ProgramThatMayNotBeRunIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "script") << "text";
  EXPECT_THROW(Process::start({.argv = {folder / "script"}}), CommandError);
}

TEST(Process, EnvironmentIsOursWithTheChanges) {
  ::setenv("LOCKSTEP_TEST_KEPT", "kept", 1);
  ::setenv("LOCKSTEP_TEST_GONE", "gone", 1);
  ProcessOptions options = shell("echo $LOCKSTEP_TEST_KEPT,$LOCKSTEP_TEST_GONE,$LOCKSTEP_TEST_NEW");
  options.environment = {{"LOCKSTEP_TEST_GONE", std::nullopt}, {"LOCKSTEP_TEST_NEW", "a=b"}};
  EXPECT_EQ(output_of(options), "kept,,a=b\n");
}

TEST(Process, GivesDescriptorsTheNumbersAskedForEvenCrossed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "A";
  std::ofstream(folder / "b") << "B";
  const FileDescriptor a(::open((folder / "a").c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor b(::open((folder / "b").c_str(), O_RDONLY | O_CLOEXEC));
  ProcessOptions options = shell("cat <&" + std::to_string(a.get()) + " <&" + std::to_string(b.get()) +
                                 "; cat <&" + std::to_string(a.get()));
  options.fds = {{a.get(), b.get()}, {b.get(), a.get()}};
  EXPECT_EQ(output_of(options), "AB");
}

TEST(Process, ChildHasNoOtherFileOpen) {
  const FileDescriptor leaky(::open("/dev/null", O_RDONLY));  // close-on-exec forgotten
  // ls itself opens the folder that it lists.
  EXPECT_EQ(output_of({.argv = {"ls", "/proc/self/fd"}}), "0\n1\n2\n3\n");
}

TEST(Process, OutputFilesAreAppendedToAndErrorsCanJoin) {
  const TemporaryFolder folder;
  std::ofstream(folder / "log") << "before\n";
  ProcessOptions options = shell("echo out; echo err >&2");
  options.standard_output = Output::file(folder / "log");
  options.standard_error = Output::with_stdout();
  EXPECT_TRUE(Process::start(options).wait().success());
  EXPECT_EQ(read_file(folder / "log"), "before\nout\nerr\n");
}

TEST(Process, StandardErrorHasAPipeOfItsOwn) {
  ProcessOptions options = shell("echo err >&2");
  options.standard_output = Output::discard();
  options.standard_error = Output::pipe();
  Process process = Process::start(options);
  EXPECT_EQ(drain(process.stderr_pipe()), "err\n");
}

TEST(Process, OutputFileThatCannotBeOpenedIsAnIoError) {
  ProcessOptions options = shell("true");
  options.standard_output = Output::file("/no/such/folder/log");
  EXPECT_THROW(Process::start(options), IoError);
}

TEST(Process, StartsWithDefaultSignals) {
  // A blocked or ignored SIGTERM would be inherited, and the child could not be stopped.
  ::signal(SIGTERM, SIG_IGN);
  Process process = Process::start(shell("exec sleep 1000"));
  ::signal(SIGTERM, SIG_DFL);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().signal, SIGTERM);
}

TEST(Process, DestroyingOneThatRunsEndsIt) {
  pid_t pid = -1;
  { pid = Process::start(shell("exec sleep 1000")).pid(); }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Process, MovingKeepsTheChild) {
  Process first = Process::start(shell("exec sleep 1000"));
  const pid_t pid = first.pid();
  Process second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  EXPECT_FALSE(second.poll());
}

TEST(Process, ChildDiesWithTheThreadThatStartedIt) {
  std::optional<Process> process;
  std::thread([&] { process.emplace(Process::start(shell("exec sleep 1000"))); }).join();
  EXPECT_EQ(process->wait_for(kLong).value_or(ExitStatus{}).signal, SIGKILL);
}

TEST(Process, ChildMayOutliveTheThreadThatStartedIt) {
  ProcessOptions options = shell("exec sleep 1000");
  options.die_with_parent = false;
  std::optional<Process> process;
  std::thread([&] { process.emplace(Process::start(options)); }).join();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait().signal, SIGTERM);
}

TEST(Process, NewSessionOnlyWhenAsked) {
  ProcessOptions options = shell("exec sleep 1000");
  Process same = Process::start(options);
  EXPECT_EQ(::getsid(same.pid()), ::getsid(0));
  options.new_session = true;
  Process other = Process::start(options);
  EXPECT_EQ(::getsid(other.pid()), other.pid());
}

TEST(Process, NewGroupStaysInTheSession) {
  ProcessOptions options = shell("exec sleep 1000");
  EXPECT_EQ(::getpgid(Process::start(options).pid()), ::getpgid(0));
  options.new_group = true;
  Process leader = Process::start(options);
  EXPECT_EQ(::getpgid(leader.pid()), leader.pid());
  EXPECT_EQ(::getsid(leader.pid()), ::getsid(0));
}

}  // namespace
}  // namespace lockstep
