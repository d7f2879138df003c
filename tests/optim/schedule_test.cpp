#include "lockstep/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep::optim {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

std::vector<double> rates(const ScheduleConfig& config, double peak_lr, int64_t total_steps) {
  std::vector<double> rates;
  for (int64_t step = 0; step < total_steps; ++step) {
    rates.push_back(learning_rate(config, peak_lr, step, total_steps));
  }
  return rates;
}

auto near(double value) { return DoubleNear(value, 1e-12); }

TEST(Schedule, ConstantIsThePeakToTheBitAfterWarmup) {
  EXPECT_THAT(rates({.name = "constant", .warmup_steps = 2, .min_lr = 0.01}, 0.3, 4),
              ElementsAre(0.15, 0.3, 0.3, 0.3));
}

TEST(Schedule, LinearFallsTowardsMinLrAndNeverWastesAStep) {
  EXPECT_THAT(rates({.name = "linear"}, 1.0, 4), ElementsAre(1.0, near(0.75), near(0.5), near(0.25)));
  EXPECT_THAT(rates({.name = "linear", .warmup_steps = 1, .min_lr = 0.5}, 1.0, 3),
              ElementsAre(1.0, 1.0, near(0.75)));
}

TEST(Schedule, CosineIsHalfwayInTheMiddle) {
  const auto r = rates({.name = "cosine", .warmup_steps = 2, .min_lr = 0.2}, 1.0, 10);
  EXPECT_EQ(r[2], 1.0);
  EXPECT_THAT(r[6], near(0.6));
  EXPECT_THAT(r[4], near(0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2));  // a quarter of the way: cos(pi/4)
}

TEST(Schedule, WsdStaysAtThePeakUntilTheLastTenth) {
  const auto r = rates({.name = "wsd", .warmup_steps = 5}, 1.0, 40);
  EXPECT_EQ(r[5], 1.0);
  EXPECT_EQ(r[36], 1.0);
  EXPECT_THAT(r[37], near(0.75));
  EXPECT_THAT(r[39], near(0.25));
}

TEST(Schedule, EveryScheduleEndsAtMinLrPastTheLastStep) {
  for (const char* name : {"linear", "cosine", "wsd"}) {
    const ScheduleConfig config{.name = name, .warmup_steps = 3, .min_lr = 0.125};
    EXPECT_THAT(learning_rate(config, 1.0, 10, 10), near(0.125)) << name;
    EXPECT_THAT(learning_rate(config, 1.0, 99, 10), near(0.125)) << name;
  }
}

TEST(Schedule, WarmupLongerThanTheRunOnlyRises) {
  for (const char* name : {"constant", "linear", "cosine", "wsd"}) {
    EXPECT_THAT(rates({.name = name, .warmup_steps = 8}, 1.0, 2), ElementsAre(0.125, 0.25)) << name;
  }
}

TEST(Schedule, RefusesUnknownNamesAndAMinimumAboveThePeak) {
  EXPECT_THROW(learning_rate({.name = "cosin"}, 1.0, 0, 1), ConfigError);
  EXPECT_THROW(learning_rate({.name = "linear", .min_lr = 2.0}, 1.0, 0, 1), ConfigError);
}

}  // namespace
}  // namespace lockstep::optim
