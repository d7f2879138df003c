// The energy that a GPU takes and what holds its clock down, by NVML, NVIDIA's management library, which
// comes with the driver (https://docs.nvidia.com/deploy/nvml-api/): needs neither torch nor the CUDA toolkit.
//
// A GPU at its power limit takes as long as its work takes energy; a run that is slower than another on "the
// same" GPU is told apart by this.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/dynamic_library.h"

namespace lockstep {

class GpuPower {
 public:
  struct Sample {
    std::chrono::steady_clock::time_point at;
    double joules = 0;  // since the driver was loaded; brought up to date some ten times a second
    double sm_clock_mhz = 0;
    uint64_t held_by = 0;  // nvmlClocksEventReasons
  };

  // bus_id: CudaDriver::Device's.
  explicit GpuPower(const std::string& bus_id, const std::string& library = "libnvidia-ml.so.1");

  const std::string& problem() const { return problem_; }  // why there are no samples; empty: there are
  double limit_watts() const { return limit_watts_; }
  double max_sm_clock_mhz() const { return max_sm_clock_mhz_; }

  // Nothing where the GPU does not tell. Some ten microseconds; does not wait for the GPU.
  std::optional<Sample> sample() const;

 private:
  DynamicLibrary library_;
  std::string problem_;
  void* device_ = nullptr;
  double limit_watts_ = 0, max_sm_clock_mhz_ = 0;
};

// What the samples of a stretch of work say together.
struct PowerUse {
  double watts = 0, limit_watts = 0;              // mean, from the first to the last sample
  double sm_clock_mhz = 0, max_sm_clock_mhz = 0;  // median
  std::vector<std::string> held_by;               // in most samples: "power limit", "heat"

  // Nothing of fewer than two samples, or where the energy was not counted between them.
  static std::optional<PowerUse> of(const GpuPower& gpu, const std::vector<GpuPower::Sample>& samples);
};

}  // namespace lockstep
