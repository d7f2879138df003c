// Manifests, claims and shards from anywhere: whatever the bytes, a reader says DamagedError or reads
// something whole; it never crashes. Run under the sanitizers.
#include <gtest/gtest.h>

#include <random>

#include "lockstep/base/error.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/checkpoint/sealed_json.h"
#include "tests/checkpoint/saved_run.h"
#include "tests/storage/memory_store.h"

namespace lockstep::checkpoint {
namespace {

constexpr int kRounds = 4000;

// Values that readers tend not to expect.
Json odd_value(std::mt19937_64& random) {
  static const std::vector<Json> values = {nullptr,
                                           true,
                                           -1,
                                           0,
                                           int64_t{1} << 62,
                                           ~uint64_t{0},
                                           1e308,
                                           "",
                                           "F32",
                                           "x/y",
                                           "..",
                                           "shard",
                                           Json::array(),
                                           Json::object(),
                                           Json{-1, 0, 0, 0},
                                           Json{{"a", 1}}};
  return values[random() % values.size()];
}

// Changes, takes away or adds one value somewhere inside.
void mutate(Json& json, std::mt19937_64& random) {
  Json* at = &json;
  while (at->is_structured() && !at->empty() && random() % 4 != 0) {
    auto next = at->begin();
    std::advance(next, static_cast<long>(random() % at->size()));
    at = &*next;
  }
  if (at->is_array() && !at->empty() && random() % 3 == 0) {
    at->erase(at->begin() + static_cast<long>(random() % at->size()));
  } else if (at->is_array() && random() % 3 == 0) {
    at->push_back(odd_value(random));
  } else if (at->is_object() && !at->empty() && random() % 3 == 0) {
    auto gone = at->begin();
    std::advance(gone, static_cast<long>(random() % at->size()));
    at->erase(gone);
  } else {
    *at = odd_value(random);
  }
}

TEST(Fuzz, AWellSealedManifestMaySayAnything) {
  storage::MemoryStore store;
  SavingGroup(store, 1, 2).save(7, 1.5);
  const storage::Key key = manifest_key({7, 1});
  const Json body = unseal(*store.get(key), key);
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    Json changed = body;
    for (size_t times = 1 + random() % 3; times-- > 0;) mutate(changed, random);
    try {
      const Manifest manifest = parse_manifest(storage::as_bytes(seal(changed)), "fuzzed");
      ++accepted;
      loads(store, manifest, 2);  // what it says of the files may still be wrong
    } catch (const DamagedError&) {
    } catch (const ConfigError&) {
    }
  }
  EXPECT_LT(accepted, kRounds / 2);
}

TEST(Fuzz, AClaimMaySayAnything) {
  std::mt19937_64 random(2);
  storage::MemoryStore store;
  SavingGroup first(store, 1, 1);
  first.save(1);
  SavingGroup second(store, 2, 1);
  const storage::Key key = store.list("generations/2").at(0);
  const Json body = unseal(*store.get(key), key);
  for (int round = 0; round < kRounds; ++round) {
    Json changed = body;
    mutate(changed, random);
    store.put(key, storage::as_bytes(seal(changed)));
    try {
      survey(store);
    } catch (const DamagedError&) {
    }
  }
}

TEST(Fuzz, BytesMayBeAnything) {
  std::mt19937_64 random(3);
  storage::MemoryStore store;
  SavingGroup(store, 1, 2).save(7);
  for (const storage::Key& key : store.list("")) {
    const storage::Bytes whole = *store.get(key);
    for (int round = 0; round < 200; ++round) {
      storage::Bytes bytes = whole;
      for (size_t times = 1 + random() % 8; times-- > 0;)
        bytes[random() % bytes.size()] = std::byte(random());
      if (random() % 4 == 0) bytes.resize(random() % bytes.size());
      store.put(key, bytes);
      try {
        for (const Manifest& manifest : survey(store).committed) loads(store, manifest, 1);
      } catch (const DamagedError&) {
      }
    }
    store.put(key, whole);
  }
}

}  // namespace
}  // namespace lockstep::checkpoint
