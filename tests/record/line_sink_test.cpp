#include "lockstep/record/line_sink.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::record {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    LOCKSTEP_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    reader = FileDescriptor(ends[0]);
    writer = FileDescriptor(ends[1]);
  }
  // Everything up to the end of the writer.
  std::string read_all() {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t count; (count = ::read(reader.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(count));
    }
    return text;
  }
  FileDescriptor reader, writer;
};

TEST(StoreLines, EachLineIsAppended) {
  TemporaryFolder folder;
  const auto store = storage::open_store(folder.path());
  StoreLines lines(*store, "events/g001.jsonl");
  lines.write("one");
  lines.write("two");
  EXPECT_EQ(read_file(folder / "events/g001.jsonl"), "one\ntwo\n");
}

TEST(StoreLines, AFullDiskIsNotPassedOver) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "full");
  const auto store = storage::open_store(folder.path());
  StoreLines lines(*store, "full");
  EXPECT_THROW(lines.write("one"), IoError);
}

TEST(PipeLines, TheReaderSeesEachLine) {
  Pipe pipe;
  {
    PipeLines lines(std::move(pipe.writer));
    lines.write("one");
    lines.write("two");
  }
  EXPECT_EQ(pipe.read_all(), "one\ntwo\n");
}

TEST(PipeLines, ALineLongerThanThePipeComesWhole) {
  Pipe pipe;
  const std::string line(1 << 20, 'x');  // a pipe holds 64 KiB
  std::thread writer([&] { PipeLines(std::move(pipe.writer)).write(line); });
  EXPECT_EQ(pipe.read_all(), line + "\n");
  writer.join();
}

TEST(PipeLines, LinesOfSeveralThreadsDoNotMix) {
  Pipe pipe;
  std::thread writers([&] {
    PipeLines lines(std::move(pipe.writer));
    const auto write = [&](char letter) {
      for (int i = 0; i < 50; ++i)
        lines.write(std::string(10'000, letter));  // beyond what a write keeps whole
    };
    std::thread other([&] { write('b'); });
    write('a');
    other.join();
  });
  std::istringstream text(pipe.read_all());
  writers.join();
  int num_lines = 0;
  for (std::string line; std::getline(text, line); ++num_lines) {
    EXPECT_EQ(line, std::string(10'000, line.empty() ? '?' : line[0]));
  }
  EXPECT_EQ(num_lines, 100);
}

// The reader's death must not become the worker's.
TEST(PipeLines, AReaderThatWentAwayIsSaidOnceAndNothingStops) {
  Pipe pipe;
  pipe.reader.reset();
  testing::internal::CaptureStderr();
  {
    PipeLines lines(std::move(pipe.writer));
    lines.write("one");
    lines.write("two");
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, testing::HasSubstr("live events end here: Broken pipe"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

TEST(PipeLines, TheProgramsOwnHandlingOfSigpipeStays) {
  Pipe pipe;
  pipe.reader.reset();
  PipeLines(std::move(pipe.writer)).write("one");

  sigset_t blocked, pending;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  sigpending(&pending);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(PipeLines, ADescriptorThatIsNoneDoesNotStopTraining) {
  testing::internal::CaptureStderr();
  PipeLines(FileDescriptor(1000)).write("one");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("Bad file descriptor"));
}

}  // namespace
}  // namespace lockstep::record
