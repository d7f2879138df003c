#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/checkpoint/damaged.h"
#include "tests/checkpoint/saved_run.h"
#include "tests/storage/memory_store.h"

namespace lockstep::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Lineage, ALaterGenerationContinuesTheNewestCheckpoint) {
  storage::MemoryStore store;
  SavingGroup first(store, 1, 2);
  first.save(10);
  first.save(20);
  SavingGroup second(store, 2, 3);
  second.save(30);
  EXPECT_THAT(steps(store), ElementsAre(30, 20, 10));
}

TEST(Lineage, WhatAnOlderGenerationCommitsLateIsNeverRead) {
  storage::MemoryStore store;
  SavingGroup first(store, 1, 2);
  first.save(10);
  SavingGroup second(store, 2, 2);
  second.save(15);
  // The first group was cut off, not ended; it does not look at the claims any more.
  storage::MemoryStore cut_off;
  SavingGroup still_alive(cut_off, 1, 2);
  still_alive.save(40);
  for (const auto& key : cut_off.list("checkpoints/")) store.put(key, *cut_off.get(key));
  EXPECT_THAT(steps(store), ElementsAre(15, 10));
  EXPECT_THAT(survey(store).foreign, ElementsAre(CheckpointId{40, 1}));
  second.save(50);
  SavingGroup third(store, 3, 1);
  EXPECT_THAT(steps(store), ElementsAre(50, 15, 10));
}

TEST(Lineage, AGroupThatWasTakenOverStopsAtItsNextCommit) {
  storage::MemoryStore store;
  SavingGroup first(store, 1, 2);
  first.save(10);
  SavingGroup second(store, 2, 2);
  EXPECT_THAT([&] { first.save(20); },
              ThrowsMessage<GuardError>(HasSubstr("generation 1, saves nothing more")));
  EXPECT_THAT(steps(store), ElementsAre(10));
}

TEST(Lineage, OfTwoGroupsWithOneNumberTheLaterStops) {
  storage::MemoryStore store;
  SavingGroup first(store, 1, 2);
  EXPECT_THAT([&] { SavingGroup(store, 1, 2); },
              ThrowsMessage<GuardError>(HasSubstr("another group of workers")));
  first.save(10);
  EXPECT_THAT(steps(store), ElementsAre(10));
}

TEST(Lineage, AStartFromAnOlderCheckpointLeavesTheLaterOnesOut) {
  storage::MemoryStore store;
  SavingGroup first(store, 1, 2);
  for (const int64_t step : {10, 20, 30}) first.save(step);
  SavingGroup second(store, 2, 2, {.keep_last = 100}, CheckpointId{10, 1});
  EXPECT_THAT(steps(store), ElementsAre(10));
  second.save(20);
  EXPECT_THAT(steps(store), ElementsAre(20, 10));
}

// Case C02: a folder in which another run once got further.
TEST(Lineage, AHigherStepOfAnotherRunIsNotTaken) {
  storage::MemoryStore store;
  {
    SavingGroup stale(store, 1, 1);
    stale.save(1000);
  }
  store.remove(store.list("generations/").at(0));
  SavingGroup fresh(store, 2, 1, {.keep_last = 2});
  for (const int64_t step : {9, 10, 99, 100}) fresh.save(step);
  EXPECT_THAT(steps(store), ElementsAre(100, 99));
}

TEST(Lineage, ADamagedClaimIsNamed) {
  storage::MemoryStore store;
  SavingGroup first(store, 1, 1);
  first.save(1);
  const auto key = store.list("generations/").at(0);
  auto bytes = *store.get(key);
  bytes[bytes.size() / 2] ^= std::byte{1};
  store.put(key, bytes);
  EXPECT_THAT([&] { survey(store); }, ThrowsMessage<DamagedError>(HasSubstr(key)));
}

TEST(Retention, KeepsByNumberNotByText) {
  std::vector<Committed> committed;
  for (const int64_t step : {9, 10, 99, 100}) committed.push_back({{step, 1}, std::nullopt});
  EXPECT_THAT(not_kept(committed, {.keep_last = 2}), ElementsAre(CheckpointId{9, 1}, CheckpointId{10, 1}));
}

TEST(Retention, NeverLeavesNone) {
  EXPECT_THAT(not_kept({{{5, 1}, std::nullopt}}, {.keep_last = 0}), IsEmpty());
  EXPECT_THAT(not_kept({}, {.keep_last = 1}), IsEmpty());
}

TEST(Retention, KeepsTheBestAndEveryNth) {
  const std::vector<Committed> committed = {
      {{100, 1}, 3.0}, {{200, 1}, 1.0}, {{300, 1}, std::nullopt}, {{400, 1}, 2.0}, {{500, 1}, 4.0}};
  EXPECT_THAT(not_kept(committed, {.keep_last = 1, .keep_best = 1}),
              ElementsAre(CheckpointId{100, 1}, CheckpointId{300, 1}, CheckpointId{400, 1}));
  EXPECT_THAT(not_kept(committed, {.keep_last = 1, .keep_every = 300}),
              ElementsAre(CheckpointId{100, 1}, CheckpointId{200, 1}, CheckpointId{400, 1}));
}

TEST(Retention, HappensAfterTheNextCommit) {
  storage::MemoryStore store;
  SavingGroup group(store, 1, 2, {.keep_last = 2, .keep_best = 1});
  group.save(1, 0.5);
  for (int64_t step = 2; step <= 12; ++step) group.save(step, 1.0);
  EXPECT_THAT(steps(store), ElementsAre(12, 11, 1));
  EXPECT_EQ(store.list("checkpoints/").size(), 9u);
}

}  // namespace
}  // namespace lockstep::checkpoint
