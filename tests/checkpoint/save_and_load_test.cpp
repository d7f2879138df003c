#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/storage/local_store.h"
#include "tests/base/temporary_folder.h"
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

// In a folder, where bytes go straight to their places, and in a store that can only `get`.
TEST(Checkpoint, ShardsOfManyPiecesComeBackWholeAndInPart) {
  TemporaryFolder folder;
  storage::LocalStore local(folder / "run");
  storage::MemoryStore memory;
  const int64_t numel = 9'000'001;  // 36 MB each: pieces of 32 MiB end within them
  const std::vector<Slice> slices = {{{"a", "F32", {numel}}, 0, numel}, {{"b", "F32", {numel}}, 0, numel}};
  const ShardPlan plan(slices, 0);
  std::vector<std::byte> image(static_cast<size_t>(plan.num_bytes()));
  plan.write_header(image);
  for (size_t i = static_cast<size_t>(plan.position(0)); i < image.size(); ++i) {
    image[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  }
  for (storage::ObjectStore* store : std::initializer_list<storage::ObjectStore*>{&local, &memory}) {
    Manifest manifest{.id = {1, 1}};
    manifest.shards = {write_shard(*store, manifest.id, plan.info(), image)};
    // All of a; of b a little in the middle, which is far from it.
    std::vector<std::byte> a(static_cast<size_t>(numel * 4)), b(4 * 5);
    fetch_state(*store, manifest, std::vector<Target>{{slices[0], a}, {{slices[1].tensor, 8'000'000, 5}, b}});
    EXPECT_EQ(std::memcmp(a.data(), image.data() + plan.position(0), a.size()), 0);
    EXPECT_EQ(std::memcmp(b.data(), image.data() + plan.position(1) + 4 * 8'000'000, b.size()), 0);

    image.back() ^= std::byte{1};  // of b: not even asked for
    store->put(file_key(manifest.id, manifest.shards[0].file), image);
    EXPECT_THAT(
        [&] {
          fetch_state(*store, manifest, std::vector<Target>{{slices[0], a}});
        },
        ThrowsMessage<DamagedError>(HasSubstr("was changed")));
    image.push_back({});
    store->put(file_key(manifest.id, manifest.shards[0].file), image);
    EXPECT_THAT([&] { verify_shard(*store, manifest, manifest.shards[0]); },
                ThrowsMessage<DamagedError>(HasSubstr("more than")));
    image.pop_back();
    image.back() ^= std::byte{1};
  }
}

TEST(Checkpoint, SlicesThatShareBytesOfAFileAreDamage) {
  storage::MemoryStore store;
  SavingGroup(store, 1, 1).save(1);
  Manifest manifest = survey(store).committed.at(0);
  auto& slices = manifest.shards[0].slices;
  slices[1].position = slices[0].position + 1;
  EXPECT_THAT([&] { parse_manifest(storage::as_bytes(to_bytes(manifest)), "it"); },
              ThrowsMessage<DamagedError>(HasSubstr("share its byte")));
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
