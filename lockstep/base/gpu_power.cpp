#include "lockstep/base/gpu_power.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/median.h"

namespace lockstep {
namespace {

constexpr unsigned kSmClock = 1;  // NVML_CLOCK_SM

struct Reason {
  uint64_t bits;
  const char* words;
};
constexpr Reason kReasons[] = {{0x4, "power limit"},   // nvmlClocksEventReasonSwPowerCap
                               {0x80, "power brake"},  // HwPowerBrakeSlowdown: outside the GPU
                               {0x20 | 0x40, "heat"},  // SwThermalSlowdown, HwThermalSlowdown
                               {0x2, "set clocks"}};   // ApplicationsClocksSetting

}  // namespace

GpuPower::GpuPower(const std::string& bus_id, const std::string& library)
    : library_(library), problem_(library_.problem()) {
  if (!library_.loaded()) return;
  auto* init = library_.find<int()>("nvmlInit_v2");
  auto* get_device = library_.find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (!init || !get_device) {
    problem_ = fmt::format("{} is not NVML", library);
    return;
  }
  if (const int error = init(); error != 0) {
    problem_ = fmt::format("nvmlInit returned {}", error);
    return;
  }
  if (const int error = get_device((bus_id + ".0").c_str(), &device_); error != 0) {
    problem_ = fmt::format("nvmlDeviceGetHandleByPciBusId returned {} for {}", error, bus_id);
    return;
  }
  unsigned milliwatts = 0, mhz = 0;
  if (auto* get = library_.find<int(void*, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
      get && get(device_, &milliwatts) == 0)
    limit_watts_ = milliwatts / 1e3;
  if (auto* get = library_.find<int(void*, unsigned, unsigned*)>("nvmlDeviceGetMaxClockInfo");
      get && get(device_, kSmClock, &mhz) == 0)
    max_sm_clock_mhz_ = mhz;
  if (!sample()) problem_ = "the GPU does not count its energy, or not tell its clock";
}

std::optional<GpuPower::Sample> GpuPower::sample() const {
  if (!problem_.empty()) return std::nullopt;
  auto* energy = library_.find<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  auto* clock = library_.find<int(void*, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
  // Its name before driver 535, which later ones have too.
  auto* reasons = library_.find<int(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned long long millijoules = 0, held_by = 0;
  unsigned mhz = 0;
  if (!energy || energy(device_, &millijoules) != 0) return std::nullopt;
  if (!clock || clock(device_, kSmClock, &mhz) != 0) return std::nullopt;
  if (reasons && reasons(device_, &held_by) != 0) held_by = 0;
  return Sample{.at = std::chrono::steady_clock::now(),
                .joules = static_cast<double>(millijoules) / 1e3,
                .sm_clock_mhz = static_cast<double>(mhz),
                .held_by = held_by};
}

std::optional<PowerUse> PowerUse::of(const GpuPower& gpu, const std::vector<GpuPower::Sample>& samples) {
  if (samples.size() < 2) return std::nullopt;
  const std::chrono::duration<double> time = samples.back().at - samples.front().at;
  const double joules = samples.back().joules - samples.front().joules;
  if (joules <= 0 || time.count() <= 0) return std::nullopt;
  PowerUse use{.watts = joules / time.count(),
               .limit_watts = gpu.limit_watts(),
               .max_sm_clock_mhz = gpu.max_sm_clock_mhz()};
  std::vector<double> clocks;
  for (const auto& sample : samples) clocks.push_back(sample.sm_clock_mhz);
  use.sm_clock_mhz = median(clocks);
  for (const auto& reason : kReasons) {
    const auto held = std::count_if(samples.begin(), samples.end(),
                                    [&](const auto& sample) { return (sample.held_by & reason.bits) != 0; });
    if (2 * held > static_cast<std::ptrdiff_t>(samples.size())) use.held_by.emplace_back(reason.words);
  }
  return use;
}

}  // namespace lockstep
