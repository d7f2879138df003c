#include "lockstep/data/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace lockstep::data {
namespace {

TEST(Prefetch, GivesResultsInOrderAndThenNothing) {
  int made = 0;
  Prefetch<std::unique_ptr<int>> prefetch(
      [&]() -> std::optional<std::unique_ptr<int>> {
        if (made == 5) return std::nullopt;
        return std::make_unique<int>(made++);
      },
      2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(**prefetch.next(), i);
  EXPECT_FALSE(prefetch.next());
  EXPECT_FALSE(prefetch.next());
}

TEST(Prefetch, ThrowsWhatTheProducerThrewAfterTheResultsBeforeIt) {
  int made = 0;
  Prefetch<int> prefetch(
      [&]() -> std::optional<int> {
        if (made == 3) throw std::runtime_error("the fourth");
        return made++;
      },
      8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(prefetch.next(), i);
  EXPECT_THROW(prefetch.next(), std::runtime_error);
  EXPECT_THROW(prefetch.next(), std::runtime_error);
}

TEST(Prefetch, StaysAtMostItsDepthAhead) {
  std::atomic<int> made = 0;
  Prefetch<int> prefetch([&]() -> std::optional<int> { return made++; }, 3);
  for (int taken = 1; taken <= 50; ++taken) {
    prefetch.next();
    EXPECT_LE(made.load(), taken + 3 + 1);  // 3 waiting and one in the producer's hand
  }
}

TEST(Prefetch, EndsWhenDestroyedWhileTheProducerWaitsForRoom) {
  Prefetch<int> prefetch([]() -> std::optional<int> { return 1; }, 1);
  prefetch.next();
}

}  // namespace
}  // namespace lockstep::data
