#include "lockstep/train/step_guard.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace lockstep::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinite = std::numeric_limits<double>::infinity();

TEST(StepGuard, SkipsWhatIsNotFinite) {
  const GuardConfig config{.max_skipped = 2};
  StepGuard guard(config);
  EXPECT_FALSE(guard.judge(2.0, 1.0));
  EXPECT_TRUE(guard.judge(kNan, 1.0));
  EXPECT_TRUE(guard.judge(2.0, kInfinite));
  EXPECT_FALSE(guard.exceeded());
  EXPECT_TRUE(guard.judge(kInfinite, kNan));
  EXPECT_TRUE(guard.exceeded());
}

TEST(StepGuard, AGoodStepForgivesThoseBeforeIt) {
  const GuardConfig config{.max_skipped = 1};
  StepGuard guard(config);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(guard.judge(kNan, 1.0));
    EXPECT_FALSE(guard.exceeded());
    EXPECT_FALSE(guard.judge(2.0, 1.0));
  }
}

TEST(StepGuard, ASpikeIsMeasuredAgainstTheMedian) {
  const GuardConfig config{.max_skipped = 1, .loss_spike = 3};
  StepGuard guard(config);
  EXPECT_FALSE(guard.judge(50.0, 1.0));  // too early to say
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(guard.judge(2.0, 1.0));
  EXPECT_FALSE(guard.judge(5.9, 1.0));
  EXPECT_TRUE(guard.judge(6.1, 1.0));
  EXPECT_FALSE(guard.judge(2.0, 1.0));
}

TEST(StepGuard, RemembersOverACheckpoint) {
  const GuardConfig config{.max_skipped = 1, .loss_spike = 3};
  StepGuard before(config), after(config);
  for (int i = 0; i < 40; ++i) before.judge(2.0, 1.0);
  before.judge(kNan, 1.0);
  after.load_state(before.state());
  EXPECT_EQ(after.state(), before.state());
  EXPECT_TRUE(after.judge(7.0, 1.0));
  EXPECT_TRUE(after.exceeded());
}

}  // namespace
}  // namespace lockstep::train
