#include "lockstep/storage/retrying_store.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/storage/faulty_store.h"
#include "tests/storage/memory_store.h"

namespace lockstep::storage {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class RetryingStoreTest : public testing::Test {
 protected:
  // The store under test over one that fails as `fault` says.
  RetryingStore retrying(Fault fault, RetryPolicy policy = {}) {
    auto faulty = std::make_unique<FaultyStore>(memory_, fault);
    faulty_ = faulty.get();
    return RetryingStore(std::move(faulty), policy, clock());
  }

  // Time passes only while the store sleeps.
  RetryClock clock() {
    return {.now = [this] { return now_; },
            .sleep =
                [this](std::chrono::nanoseconds time) {
                  pauses_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(time));
                  now_ += time;
                },
            .random = [this] { return random_; }};
  }

  MemoryStore memory_;
  FaultyStore* faulty_ = nullptr;
  std::chrono::steady_clock::time_point now_{};
  std::vector<std::chrono::milliseconds> pauses_;
  double random_ = 0;
};

TEST_F(RetryingStoreTest, EachVerbWorksOnceTheStoreDoesAgain) {
  memory_.put("old", as_bytes("value"));
  RetryingStore store = retrying({.at_call = 1, .num_calls = 2});
  store.put("new", as_bytes("value"));
  EXPECT_EQ(faulty_->calls(), 3);
  EXPECT_EQ(as_text(*retrying({.at_call = 1}).get("old")), "value");
  RetryingStore reading = retrying({.at_call = 1});
  std::string read(5, '?');
  const std::span<std::byte> part = std::as_writable_bytes(std::span(read));
  EXPECT_EQ(read_into(reading, "old", 0, {&part, 1}), 5);
  EXPECT_EQ(read, "value");
  EXPECT_THAT(retrying({.at_call = 1}).list(""), ElementsAre("new", "old"));
  retrying({.at_call = 1}).remove("old");
  EXPECT_EQ(memory_.get("old"), std::nullopt);
  EXPECT_NO_THROW(retrying({.at_call = 1}).sweep("old/"));
  EXPECT_EQ(retrying({.at_call = 1}).free_bytes(), std::nullopt);
}

TEST_F(RetryingStoreTest, PausesDoubleUpToTheLongest) {
  RetryingStore store =
      retrying({.at_call = 1, .num_calls = 5}, {.first_pause = 100ms, .longest_pause = 500ms});
  store.put("key", {});
  EXPECT_THAT(pauses_, ElementsAre(100ms, 200ms, 400ms, 500ms, 500ms));
}

TEST_F(RetryingStoreTest, ChanceCutsAPauseByAHalfAtMost) {
  random_ = 0.5;
  retrying({.at_call = 1, .num_calls = 2}, {.first_pause = 100ms}).put("key", {});
  EXPECT_THAT(pauses_, ElementsAre(75ms, 150ms));
}

TEST_F(RetryingStoreTest, GivesUpWithinTheSetTimeAndSaysWhy) {
  RetryingStore store = retrying({.at_call = 1, .num_calls = Fault::kForever}, {.max_time = 60s});
  EXPECT_THAT([&] { store.put("key", {}); },
              ThrowsMessage<IoError>(AllOf(HasSubstr("error before in put key"),
                                           HasSubstr("gave up after 11 tries in 52.6 s"))));
  EXPECT_EQ(faulty_->calls(), 11);
  EXPECT_LE(now_.time_since_epoch(), 60s);
}

TEST_F(RetryingStoreTest, WhatTheTriesTakeCountsAsWell) {
  struct SlowStore : MemoryStore {
    explicit SlowStore(std::chrono::steady_clock::time_point& now) : now_(now) {}
    void put(const Key&, std::span<const std::byte>) override {
      now_ += 25s;
      throw IoError("timed out");
    }
    std::chrono::steady_clock::time_point& now_;
  };
  RetryingStore store(std::make_unique<SlowStore>(now_), {.max_time = 60s}, clock());
  EXPECT_THAT([&] { store.put("key", {}); }, ThrowsMessage<IoError>(HasSubstr("after 3 tries in 75.6 s")));
}

TEST_F(RetryingStoreTest, WhatWouldFailAgainIsNotTriedAgain) {
  RetryingStore store = retrying({.at_call = 1, .kind = FaultKind::kFullDisk});
  EXPECT_THAT([&] { store.put("key", {}); }, ThrowsMessage<PermanentIoError>(HasSubstr("No space left")));
  EXPECT_EQ(faulty_->calls(), 1);
}

TEST_F(RetryingStoreTest, WhatIsNoStorageErrorIsNotTriedAgain) {
  struct RefusingStore : MemoryStore {
    std::vector<Key> list(const Key&) override {
      ++calls;
      throw ConfigError("refused");
    }
    int calls = 0;
  };
  auto refusing = std::make_unique<RefusingStore>();
  const int& calls = refusing->calls;
  RetryingStore store(std::move(refusing), {}, clock());
  EXPECT_THROW(store.list(""), ConfigError);
  EXPECT_EQ(calls, 1);
}

TEST_F(RetryingStoreTest, ALostAnswerIsAskedForAgain) {
  retrying({.at_call = 1, .kind = FaultKind::kErrorAfter}).put("key", as_bytes("value"));
  EXPECT_EQ(as_text(*memory_.get("key")), "value");
  EXPECT_NO_THROW(retrying({.at_call = 1, .kind = FaultKind::kErrorAfter}).remove("key"));
}

TEST_F(RetryingStoreTest, AppendIsNeverDoneTwice) {
  RetryingStore store = retrying({.at_call = 1, .kind = FaultKind::kErrorAfter});
  EXPECT_THROW(store.append("key", as_bytes("line\n")), IoError);
  EXPECT_EQ(as_text(*memory_.get("key")), "line\n");
}

TEST_F(RetryingStoreTest, EachFurtherTryIsLoggedOnceWithItsReason) {
  testing::internal::CaptureStderr();
  retrying({.at_call = 1, .num_calls = 2}).put("shards/3", {});
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("storage: try 1 failed, the next is in 0.2 s: injected fault: error before in "
                             "put shards/3\n"));
  EXPECT_THAT(log, HasSubstr("storage: try 2 failed, the next is in 0.4 s"));
  EXPECT_THAT(log, testing::Not(HasSubstr("try 3")));
}

}  // namespace
}  // namespace lockstep::storage
