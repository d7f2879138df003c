#include "tests/storage/faulty_store.h"

#include <gmock/gmock.h>

#include "tests/base/temporary_folder.h"
#include "tests/storage/memory_store.h"

namespace lockstep::storage {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string text_of(ObjectStore& store, const Key& key) {
  const auto value = store.get(key);
  return value ? std::string(as_text(*value)) : "absent";
}

// What stands under "key" after a put of "new!" that met the fault.
std::string left_by(FaultKind kind) {
  MemoryStore store;
  store.put("key", as_bytes("old"));
  FaultyStore faulty(store, {.at_call = 1, .kind = kind});
  EXPECT_THROW(faulty.put("key", as_bytes("new!")), IoError) << to_text(kind);
  return text_of(store, "key");
}

TEST(FaultyStore, AnErrorLeavesWhatItsKindSays) {
  EXPECT_EQ(left_by(FaultKind::kErrorBefore), "old");
  EXPECT_EQ(left_by(FaultKind::kErrorAfter), "new!");
  EXPECT_EQ(left_by(FaultKind::kShortWrite), "ne");
  EXPECT_EQ(left_by(FaultKind::kFullDisk), "old");
}

TEST(FaultyStore, StrikesTheCallsItWasToldAndCountsThemAll) {
  MemoryStore store;
  FaultyStore faulty(store, {.at_call = 2, .num_calls = 2});
  faulty.put("a", as_bytes("1"));
  EXPECT_THAT([&] { faulty.get("a"); }, ThrowsMessage<IoError>(HasSubstr("error before in get a")));
  EXPECT_THROW(faulty.list(""), IoError);
  faulty.append("a", as_bytes("2"));
  faulty.remove("b");
  EXPECT_EQ(faulty.calls(), 5);
  EXPECT_EQ(faulty.call_text(4), "append a");
  EXPECT_EQ(text_of(store, "a"), "12");
}

TEST(FaultyStoreDeathTest, KillLeavesWhatItsKindSays) {
  for (const auto& [kind, left] :
       {std::pair(FaultKind::kKillBefore, "old"), std::pair(FaultKind::kKillMidway, "ne"),
        std::pair(FaultKind::kKillAfter, "new!")}) {
    TemporaryFolder folder;
    const auto store = open_store(folder.path());
    store->put("key", as_bytes("old"));
    FaultyStore faulty(*store, {.at_call = 1, .kind = kind});
    EXPECT_EXIT(faulty.put("key", as_bytes("new!")), testing::KilledBySignal(SIGKILL), "");
    EXPECT_EQ(text_of(*store, "key"), left) << to_text(kind);
  }
}

}  // namespace
}  // namespace lockstep::storage
