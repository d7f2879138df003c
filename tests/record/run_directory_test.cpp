#include "lockstep/record/run_directory.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <thread>
#include <vector>

#include "lockstep/base/error.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::record {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(RunDirectory, CreateMakesTheFolderWithRecipeAndLogs) {
  TemporaryFolder folder;
  const auto run = RunDirectory::create(folder / "runs/tiny", "name: tiny\n");
  EXPECT_EQ(read_file(folder / "runs/tiny/recipe.yaml"), "name: tiny\n");
  EXPECT_TRUE(fs::is_directory(folder / "runs/tiny/logs"));
}

TEST(RunDirectory, NamesCarryGenerationAndRank) {
  TemporaryFolder folder;
  const auto run = RunDirectory::create(folder / "run", "");
  EXPECT_EQ(metrics_key(1), "metrics/g001.jsonl");
  EXPECT_EQ(events_key(12), "events/g012.jsonl");
  EXPECT_EQ(driver_events_key(1), "events/driver-001.jsonl");
  EXPECT_EQ(run.log_path(2, 13), folder / "run/logs/g002-rank-013.log");
  EXPECT_EQ(run.model_path(), folder / "run/model");
}

TEST(RunDirectory, AnEmptyFolderMayBecomeARun) {
  TemporaryFolder folder;
  EXPECT_NO_THROW(RunDirectory::create(folder.path(), "name: tiny\n"));
}

TEST(RunDirectory, AnExistingRunIsRefusedAndLeftAlone) {
  TemporaryFolder folder;
  RunDirectory::create(folder / "run", "name: first\n");
  EXPECT_THAT([&] { RunDirectory::create(folder / "run", "name: second\n"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr(folder / "run"), HasSubstr("already holds"), HasSubstr("run.dir="))));
  EXPECT_EQ(read_file(folder / "run/recipe.yaml"), "name: first\n");
}

// Many times, since they must meet between looking and making.
TEST(RunDirectory, OfSeveralThatStartAtOnceOneHasTheFolder) {
  TemporaryFolder folder;
  constexpr int kThreads = 4;
  for (int round = 0; round < 20; ++round) {
    const std::string path = folder / std::to_string(round);
    std::barrier start(kThreads);
    std::atomic<int> num_made{0}, num_refused{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        try {
          RunDirectory::create(path, "");
          ++num_made;
        } catch (const ConfigError&) {
          ++num_refused;
        }
      });
    }
    threads.clear();  // joins
    EXPECT_EQ(num_made, 1);
    EXPECT_EQ(num_refused, kThreads - 1);
  }
}

TEST(RunDirectory, ASlashAtTheEndChangesNothing) {
  TemporaryFolder folder;
  EXPECT_EQ(RunDirectory::create(folder / "run/", "").model_path(), folder / "run/model");
}

TEST(RunDirectory, AFileInItsPlaceIsRefused) {
  TemporaryFolder folder;
  std::ofstream(folder / "run") << "mine";
  EXPECT_THAT([&] { RunDirectory::create(folder / "run", ""); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr(folder / "run"), HasSubstr("not a folder"))));
  EXPECT_EQ(read_file(folder / "run"), "mine");
}

TEST(RunDirectory, AFolderThatCannotBeMadeIsNamed) {
  TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT([&] { RunDirectory::create(folder / "file/run", ""); },
              ThrowsMessage<IoError>(AllOf(HasSubstr(folder / "file/run"), HasSubstr("Not a directory"))));
}

TEST(RunDirectory, AFullDiskLeavesNothingOfTheRun) {
  TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  const auto create_on_a_full_disk = [](const std::string& path) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      RunDirectory::create(path, "name: longer than ten bytes\n");
    } catch (const IoError&) {
      std::_Exit(7);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(create_on_a_full_disk(folder / "new"), testing::ExitedWithCode(7), "");
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_EXIT(create_on_a_full_disk(folder / "empty"), testing::ExitedWithCode(7), "");
  EXPECT_TRUE(fs::is_empty(folder / "empty"));
}

TEST(RunDirectory, OpenFindsWhatCreateMade) {
  TemporaryFolder folder;
  RunDirectory::create(folder / "run", "name: tiny\n");
  EXPECT_EQ(RunDirectory::open(folder / "run").path(), folder / "run");
}

TEST(RunDirectory, OpenRefusesWhatIsNoRun) {
  TemporaryFolder folder;
  for (const std::string& path : {folder.path(), folder / "absent"}) {
    EXPECT_THAT([&] { RunDirectory::open(path); },
                ThrowsMessage<ConfigError>(AllOf(HasSubstr(path), HasSubstr("recipe.yaml"))));
  }
}

}  // namespace
}  // namespace lockstep::record
