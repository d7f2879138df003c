#include "lockstep/train/restart_policy.h"

#include <gmock/gmock.h>

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;

constexpr int kPeerLost = 10, kUsage = 2;

TEST(RestartPolicy, StartsAgainAsOftenAsAllowed) {
  RestartPolicy policy(2, {4});
  const auto first = policy.after_failure(kPeerLost, 10, 4);
  EXPECT_TRUE(first.restart);
  EXPECT_EQ(first.num_workers, 4);
  const auto second = policy.after_failure(kPeerLost, 20, 4);
  EXPECT_TRUE(second.restart);
  EXPECT_GT(second.delay, first.delay);
  const auto third = policy.after_failure(kPeerLost, 30, 4);
  EXPECT_FALSE(third.restart);
  EXPECT_THAT(third.reason, HasSubstr("failure.max_failures (2)"));
}

TEST(RestartPolicy, WhatWouldFailAgainIsNotTriedAgain) {
  RestartPolicy policy(2, {4});
  EXPECT_FALSE(policy.after_failure(kUsage, 10, 4).restart);
  EXPECT_FALSE(RestartPolicy(0, {4}).after_failure(kPeerLost, 10, 4).restart);
}

TEST(RestartPolicy, FailingTwiceInOnePlaceEndsIt) {
  RestartPolicy policy(9, {4});
  EXPECT_TRUE(policy.after_failure(kPeerLost, 10, 4).restart);
  const auto again = policy.after_failure(kPeerLost, 10, 4);
  EXPECT_FALSE(again.restart);
  EXPECT_THAT(again.reason, HasSubstr("it failed twice after step 10 without getting further"));

  RestartPolicy at_the_start(9, {4});
  EXPECT_TRUE(at_the_start.after_failure(kPeerLost, std::nullopt, 4).restart);
  EXPECT_THAT(at_the_start.after_failure(kPeerLost, std::nullopt, 4).reason,
              HasSubstr("before the first step"));
}

TEST(RestartPolicy, ARangeOfWorkersShrinksInstead) {
  RestartPolicy policy(9, {4, 2});
  EXPECT_EQ(policy.after_failure(kPeerLost, 10, 4).num_workers, 4);
  EXPECT_EQ(policy.after_failure(kPeerLost, 10, 4).num_workers, 2);
  EXPECT_FALSE(policy.after_failure(kPeerLost, 10, 4).restart);
}

TEST(RestartPolicy, AMachineThatLostAGpuStartsFewer) {
  RestartPolicy policy(9, {4, 2});
  EXPECT_EQ(policy.after_failure(kPeerLost, 10, 3).num_workers, 2);
  const auto none = policy.after_failure(kPeerLost, 20, 1);
  EXPECT_FALSE(none.restart);
  EXPECT_THAT(none.reason, HasSubstr("room for 1 workers only"));
}

}  // namespace
}  // namespace lockstep::train
