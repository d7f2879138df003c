// What `lockstep bench allreduce` is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/bench/measure.h"
#include "lockstep/bench/operation.h"

namespace lockstep::bench {

enum class Algorithm { kLockstep, kLibrary };  // training's own sums, or the library's
enum class DeviceChoice { kAuto, kCpu, kGpu };

struct AllreduceOptions {
  int64_t min_bytes = 8;
  int64_t max_bytes = int64_t{8} << 30;
  int64_t factor = 2;  // from one size to the next
  Repetitions repetitions;
  std::vector<Operation> operations = {Operation::kAllReduce};
  std::optional<int> num_workers;      // none: one for each GPU, else 2
  std::optional<Algorithm> algorithm;  // none: the library's on GPU, Lockstep's on CPU
  DeviceChoice device = DeviceChoice::kAuto;
  std::optional<double> line_rate_gbit_per_s;
  bool json = false;

  // Throws ConfigError naming the option, its value and what it takes.
  void validate() const;
};

}  // namespace lockstep::bench
