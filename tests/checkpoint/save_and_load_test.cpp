#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/checkpoint/saved_run.h"
#include "tests/storage/memory_store.h"

namespace lockstep::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Checkpoint, AnyNumberOfRanksReadsWhatAnyOtherWrote) {
  for (const int writers : {1, 2, 3, 4, 8}) {
    storage::MemoryStore store;
    SavingGroup(store, 1, writers).save(200);
    const Survey found = survey(store);
    ASSERT_EQ(found.committed.size(), 1u);
    for (const int readers : {1, 2, 3, 4, 8}) {
      EXPECT_TRUE(loads(store, found.committed[0], readers)) << writers << " to " << readers;
    }
  }
}

TEST(Checkpoint, FilesHaveTheDocumentedNames) {
  storage::MemoryStore store;
  SavingGroup(store, 2, 2).save(200);
  EXPECT_THAT(store.list("checkpoints/"),
              ElementsAre("checkpoints/step-00000200.g002/manifest.json",
                          "checkpoints/step-00000200.g002/shard-00000.safetensors",
                          "checkpoints/step-00000200.g002/shard-00001.safetensors"));
  EXPECT_EQ(id_of_folder("step-123456789.g1000"), (CheckpointId{123456789, 1000}));
  for (const char* other :
       {"step-1.g002", "step-00000001.g2", "step--0000001.g002", "step-00000001", "tmp"}) {
    EXPECT_FALSE(id_of_folder(other)) << other;
  }
}

TEST(Checkpoint, AManifestSurvivesTheWayThroughItsBytes) {
  storage::MemoryStore store;
  SavingGroup(store, 1, 3).save(7, 2.5);
  const Manifest manifest = survey(store).committed.at(0);
  const std::string bytes = to_bytes(manifest);
  EXPECT_EQ(to_bytes(parse_manifest(storage::as_bytes(bytes), "again")), bytes);
  EXPECT_EQ(manifest.world_size, 3);
  EXPECT_EQ(manifest.metrics.at("held_out_loss"), 2.5);
}

TEST(Checkpoint, AnotherModelsTensorsAreRefusedByName) {
  storage::MemoryStore store;
  SavingGroup(store, 1, 1).save(1);
  const Manifest manifest = survey(store).committed.at(0);
  std::vector<std::byte> bytes(12);
  const std::vector<Target> unknown = {{{{"weights/c", "F32", {3}}, 0, 3}, bytes}};
  EXPECT_THAT([&] { fetch_state(store, manifest, unknown); },
              ThrowsMessage<ConfigError>(HasSubstr("has no weights/c")));
  const std::vector<Target> other_shape = {{{{"weights/a", "F32", {3}}, 0, 3}, bytes}};
  EXPECT_THAT([&] { fetch_state(store, manifest, other_shape); },
              ThrowsMessage<ConfigError>(HasSubstr("has weights/a as F32 [7, 3], here it is F32 [3]")));
}

}  // namespace
}  // namespace lockstep::checkpoint
