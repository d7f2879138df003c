// Every file of a checkpoint, damaged in every way: each is found and named, none loads.
#include <gmock/gmock.h>

#include <functional>

#include "lockstep/checkpoint/damaged.h"
#include "tests/checkpoint/saved_run.h"
#include "tests/storage/memory_store.h"

namespace lockstep::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kWorld = 3;

// What is wrong with the newest checkpoint; empty when it loads.
std::string problem_with(storage::ObjectStore& store, const CheckpointId& id) {
  try {
    const auto manifest = read_manifest(store, id);
    if (!manifest) return std::string(kManifestFile) + " is missing";
    for (const ShardInfo& shard : manifest->shards) verify_shard(store, *manifest, shard);
    return loads(store, *manifest, kWorld) ? "" : "other values";
  } catch (const DamagedError& error) {
    return error.what();
  }
}

TEST(Damage, EveryKindInEveryFileIsFoundAndNamed) {
  using Change = std::function<void(storage::Bytes&)>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"a bit of the first byte", [](auto& bytes) { bytes.front() ^= std::byte{1}; }},
      {"a bit in the middle", [](auto& bytes) { bytes[bytes.size() / 2] ^= std::byte{16}; }},
      {"a bit of the last byte", [](auto& bytes) { bytes.back() ^= std::byte{128}; }},
      {"cut by one byte", [](auto& bytes) { bytes.pop_back(); }},
      {"cut in half", [](auto& bytes) { bytes.resize(bytes.size() / 2); }},
      {"one byte more", [](auto& bytes) { bytes.push_back(std::byte{0}); }},
      {"empty", [](auto& bytes) { bytes.clear(); }},
  };
  const CheckpointId id{20, 1};
  int found = 0, tried = 0;
  storage::MemoryStore whole;
  SavingGroup(whole, 1, kWorld).save(id.step);
  ASSERT_EQ(problem_with(whole, id), "");
  const auto expect_found = [&](storage::ObjectStore& store, const std::string& key, const char* what) {
    ++tried;
    const std::string problem = problem_with(store, id);
    EXPECT_THAT(problem, HasSubstr(key.substr(key.rfind('/') + 1))) << what << " in " << key;
    found += problem.empty() ? 0 : 1;
  };
  const auto copy_into = [&](storage::MemoryStore& copy) {
    for (const auto& key : whole.list("")) copy.put(key, *whole.get(key));
  };
  const auto keys = whole.list("checkpoints/");
  for (const auto& key : keys) {
    for (const auto& [what, change] : changes) {
      storage::MemoryStore store;
      copy_into(store);
      auto bytes = *store.get(key);
      change(bytes);
      store.put(key, bytes);
      expect_found(store, key, what);
    }
    storage::MemoryStore store;
    copy_into(store);
    store.remove(key);
    expect_found(store, key, "deleted");
    for (const auto& other : keys) {
      if (other == key) continue;
      storage::MemoryStore swapped;
      copy_into(swapped);
      swapped.put(key, *whole.get(other));
      expect_found(swapped, key, "swapped");
    }
  }
  EXPECT_EQ(found, tried);
  RecordProperty("tried", tried);
  std::cout << found << " of " << tried << " damages found\n";
}

TEST(Damage, EveryBitOfAManifestCounts) {
  storage::MemoryStore store;
  SavingGroup(store, 1, 1).save(1);
  const storage::Key key = manifest_key({1, 1});
  const storage::Bytes bytes = *store.get(key);
  for (size_t i = 0; i < bytes.size(); ++i) {
    storage::Bytes changed = bytes;
    changed[i] ^= std::byte{1} << (i % 8);
    EXPECT_THROW(parse_manifest(changed, "m"), DamagedError) << i;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_manifest(std::span(bytes).first(size), "m"), DamagedError) << size;
  }
}

TEST(Damage, ADamagedManifestLeavesTheOlderCheckpoints) {
  storage::MemoryStore store;
  SavingGroup group(store, 1, 2);
  group.save(10);
  group.save(20);
  store.put(manifest_key({20, 1}), storage::as_bytes("{}"));
  const Survey found = survey(store);
  EXPECT_THAT(steps(store), ElementsAre(10));
  ASSERT_EQ(found.damaged.size(), 1u);
  EXPECT_THAT(found.damaged[0].reason, HasSubstr("checkpoints/step-00000020.g001/manifest.json"));
}

// A manifest that lies: each of these is well sealed, but does not describe its files.
TEST(Damage, AManifestWhoseShardsDoNotCoverTheTensorsIsRefused) {
  storage::MemoryStore store;
  SavingGroup(store, 1, 2).save(1);
  const Manifest whole = survey(store).committed.at(0);
  const auto expect_refused = [&](const std::function<void(Manifest&)>& change, const char* what) {
    Manifest manifest = whole;
    change(manifest);
    EXPECT_THROW(parse_manifest(storage::as_bytes(to_bytes(manifest)), "m"), DamagedError) << what;
  };
  expect_refused([](auto& m) { m.shards.pop_back(); }, "a shard less");
  expect_refused([](auto& m) { m.shards[0].slices.pop_back(); }, "a slice less");
  expect_refused([](auto& m) { m.shards.push_back(m.shards[0]); }, "a shard twice");
  expect_refused([](auto& m) { m.shards[0].slices[0].length = int64_t{1} << 60; }, "a slice past its tensor");
  expect_refused([](auto& m) { m.shards[0].slices[0].offset = -1; }, "a slice before its tensor");
  expect_refused([](auto& m) { m.shards[0].slices[0].position = m.shards[0].num_bytes; },
                 "a slice past its file");
  expect_refused([](auto& m) { m.shards[0].slices[0].tensor = 99; }, "a slice of no tensor");
  expect_refused(
      [](auto& m) {
        m.shards[0].tensors[0].shape = {int64_t{1} << 40, int64_t{1} << 40};
      },
      "overflow");
  expect_refused([](auto& m) { m.shards[0].tensors[0].dtype = "F99"; }, "an unknown dtype");
}

}  // namespace
}  // namespace lockstep::checkpoint
