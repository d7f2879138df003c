#include "lockstep/base/gpu_power.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two samples, a tenth of a second apart.
std::vector<GpuPower::Sample> samples_of(const GpuPower& gpu) {
  auto samples = std::vector{gpu.sample().value(), gpu.sample().value()};
  samples[1].at = samples[0].at + std::chrono::milliseconds(100);
  return samples;
}

TEST(GpuPower, SaysWhatTheGpuTakesAndWhatHoldsItsClock) {
  setenv("FAKE_NVML_REASONS", "0x44", 1);
  const GpuPower gpu("0000:19:00", FAKE_NVML);
  ASSERT_EQ(gpu.problem(), "");
  const auto use = PowerUse::of(gpu, samples_of(gpu)).value();
  unsetenv("FAKE_NVML_REASONS");
  EXPECT_NEAR(use.watts, 700, 1e-6);
  EXPECT_EQ(use.limit_watts, 700);
  EXPECT_EQ(use.sm_clock_mhz, 1500);
  EXPECT_EQ(use.max_sm_clock_mhz, 1980);
  EXPECT_THAT(use.held_by, ElementsAre("power limit", "heat"));
}

TEST(GpuPower, NothingHoldsAClockThatIsFree) {
  const GpuPower gpu("0000:19:00", FAKE_NVML);
  const auto samples = samples_of(gpu);
  EXPECT_THAT(PowerUse::of(gpu, samples).value().held_by, ElementsAre());
  EXPECT_FALSE(PowerUse::of(gpu, {samples[0]}).has_value()) << "of one sample";
  EXPECT_FALSE(PowerUse::of(gpu, {samples[0], samples[0]}).has_value()) << "no energy was counted";
}

TEST(GpuPower, WhatIsNotThereIsNamed) {
  EXPECT_THAT(GpuPower("0000:19:00", "libno_such.so.1").problem(), HasSubstr("libno_such.so.1: cannot open"));
  const GpuPower other("0000:1a:00", FAKE_NVML);
  EXPECT_EQ(other.problem(), "nvmlDeviceGetHandleByPciBusId returned 6 for 0000:1a:00");
  EXPECT_FALSE(other.sample().has_value());
}

}  // namespace
}  // namespace lockstep
