#include "lockstep/launch/worker_log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"

namespace lockstep::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WorkerLogTest : public testing::Test {
 protected:
  WorkerLogTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-log-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~WorkerLogTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "rank.log"; }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::app) << text; }

  std::filesystem::path folder_;
};

TEST_F(WorkerLogTest, TheHeadingIsAddedToWhatIsThere) {
  write("before\n");
  begin_worker_log(path(), "rank 0 of 2");
  EXPECT_THAT(last_lines(path(), 9), ElementsAre("before", "rank 0 of 2"));
}

TEST_F(WorkerLogTest, TheLastLinesLeaveOutEmptyOnes) {
  write("one\n\ntwo\n  \nthree\nwithout end");
  EXPECT_THAT(last_lines(path(), 2), ElementsAre("three", "without end"));
}

TEST_F(WorkerLogTest, OfALongLogOnlyWholeLinesOfItsEnd) {
  for (int i = 0; i < 10'000; ++i) write("line " + std::to_string(i) + "\n");
  const auto lines = last_lines(path(), 100'000);
  EXPECT_LT(lines.size(), 3'000U);
  EXPECT_EQ(lines.back(), "line 9999");
  EXPECT_TRUE(lines.front().starts_with("line "));
}

TEST_F(WorkerLogTest, NoFileHasNoLines) { EXPECT_THAT(last_lines(path(), 3), IsEmpty()); }

TEST_F(WorkerLogTest, AFullDiskIsAnIoError) { EXPECT_THROW(begin_worker_log("/dev/full", "x"), IoError); }

}  // namespace
}  // namespace lockstep::launch
