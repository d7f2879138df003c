// A disk that fills up, and a process that dies while it writes; each in a process of its own. The
// limit on a file's size stands for the disk's end, and kills where its signal is not ignored;
// /dev/full takes no byte.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "lockstep/base/error.h"
#include "lockstep/storage/object_store.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::storage {
namespace {

// From now on a write beyond `bytes` fails, or kills this process with SIGXFSZ.
void limit_file_size(rlim_t bytes, bool kill = false) {
  ::signal(SIGXFSZ, kill ? SIG_DFL : SIG_IGN);
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

// Ends the process with the error's exit code and message, as `main` does.
template <typename Body>
[[noreturn]] void exit_with_its_error(Body body) {
  try {
    body();
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    std::_Exit(static_cast<int>(error.exit_code()));
  }
  std::_Exit(0);
}

class FullDiskTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::unique_ptr<ObjectStore> store_ = open_store(folder_ / "run");
};

TEST_F(FullDiskTest, PutKeepsTheOldValueAndLeavesNothing) {
  store_->put("record.json", as_bytes("old"));
  EXPECT_EXIT(exit_with_its_error([&] {
                limit_file_size(1000);
                store_->put("record.json", as_bytes(std::string(5000, 'x')));
              }),
              testing::ExitedWithCode(7), "cannot write .*/run/record.json: File too large");
  EXPECT_EQ(read_file(folder_ / "run/record.json"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "run"), {}), 1);
}

TEST_F(FullDiskTest, ACrashInTheMiddleOfPutKeepsTheOldValue) {
  store_->put("record.json", as_bytes("old"));
  EXPECT_EXIT(exit_with_its_error([&] {
                limit_file_size(1000, /*kill=*/true);
                store_->put("record.json", as_bytes(std::string(5000, 'x')));
              }),
              testing::KilledBySignal(SIGXFSZ), "");
  EXPECT_EQ(read_file(folder_ / "run/record.json"), "old");
  EXPECT_THAT(store_->list(""), testing::ElementsAre("record.json"));
  store_->put("record.json", as_bytes("new"));
  EXPECT_EQ(read_file(folder_ / "run/record.json"), "new");
}

TEST_F(FullDiskTest, AppendCutsBackWhatDidNotFit) {
  const std::string line(600, 'x');
  EXPECT_EXIT(exit_with_its_error([&] {
                limit_file_size(1000);
                store_->append("metrics", as_bytes(line));
                store_->append("metrics", as_bytes(line));
              }),
              testing::ExitedWithCode(7), "cannot write .*/run/metrics: File too large");
  EXPECT_EQ(read_file(folder_ / "run/metrics"), line);
}

TEST_F(FullDiskTest, TheMessageSaysWhatToDo) {
  std::filesystem::create_directory(folder_ / "run");
  std::filesystem::create_symlink("/dev/full", folder_ / "run/metrics");
  EXPECT_EXIT(exit_with_its_error([&] { store_->append("metrics", as_bytes("line\n")); }),
              testing::ExitedWithCode(7), "run/metrics: No space left on device; free some space");
}

}  // namespace
}  // namespace lockstep::storage
