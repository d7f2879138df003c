// The store fails at each call of a save in turn, in every way: each time the previous checkpoint
// loads and the next save works.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/storage/local_store.h"
#include "tests/base/temporary_folder.h"
#include "tests/checkpoint/saved_run.h"
#include "tests/storage/faulty_store.h"
#include "tests/storage/memory_store.h"

namespace lockstep::checkpoint {
namespace {

constexpr int kWorld = 3;
const RetentionRule kRule{.keep_last = 2};

// The older checkpoints are retained, then removed: both paths are walked.
void save_three(storage::ObjectStore& store) {
  SavingGroup group(store, 1, kWorld, kRule);
  for (const int64_t step : {10, 20, 30}) group.save(step);
}

// Generation 2 begins, saves step 40 and removes step 20.
void start_and_save(storage::ObjectStore& store) { SavingGroup(store, 2, kWorld, kRule).save(40); }

int64_t calls_of_a_save() {
  storage::MemoryStore store;
  save_three(store);
  storage::FaultyStore counting(store);
  start_and_save(counting);
  return counting.calls();
}

void expect_whole_and_usable(storage::ObjectStore& store, int generation, const std::string& after) {
  const Survey found = survey(store);
  ASSERT_FALSE(found.committed.empty()) << after;
  for (const Manifest& manifest : found.committed) EXPECT_TRUE(loads(store, manifest, 2)) << after;
  EXPECT_GE(found.committed[0].id.step, 30) << after;
  // At most the commit itself, where the store cannot put a value whole or not at all.
  for (const Unreadable& damaged : found.damaged) EXPECT_EQ(damaged.id, (CheckpointId{40, 2})) << after;

  SavingGroup next(store, generation, 2, kRule);
  next.save(60);
  next.save(70);
  EXPECT_THAT(steps(store), testing::ElementsAre(70, 60)) << after;
  EXPECT_TRUE(survey(store).unfinished.empty()) << after;
}

TEST(Crash, EveryCallOfASaveMayFail) {
  const int64_t num_calls = calls_of_a_save();
  int points = 0;
  for (int64_t call = 1; call <= num_calls; ++call) {
    for (const auto kind : storage::kErrors) {
      storage::MemoryStore store;
      save_three(store);
      storage::FaultyStore faulty(store, {.at_call = call, .kind = kind});
      try {
        start_and_save(faulty);  // a removal that fails does not fail the save
      } catch (const IoError&) {
      }
      ++points;
      expect_whole_and_usable(store, 3, std::string(to_text(kind)) + " in " + faulty.call_text(call));
    }
  }
  std::cout << points << " points of failure tried (" << num_calls << " calls)\n";
}

TEST(Crash, EveryCallOfASaveMayBeTheLast) {
  const int64_t num_calls = calls_of_a_save();
  int points = 0;
  TemporaryFolder template_folder;
  save_three(*storage::open_store(template_folder / "run"));
  for (int64_t call = 1; call <= num_calls; ++call) {
    for (const auto kind : storage::kKills) {
      TemporaryFolder folder;
      std::filesystem::copy(template_folder / "run", folder / "run",
                            std::filesystem::copy_options::recursive);
      const auto store = storage::open_store(folder / "run");
      const pid_t child = ::fork();
      if (child == 0) {
        storage::FaultyStore faulty(*store, {.at_call = call, .kind = kind});
        start_and_save(faulty);
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
      ++points;
      expect_whole_and_usable(*store, 3, std::string(to_text(kind)) + " call " + std::to_string(call));
    }
  }
  std::cout << points << " points of death tried (" << num_calls << " calls)\n";
}

}  // namespace
}  // namespace lockstep::checkpoint
