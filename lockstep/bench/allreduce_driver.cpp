#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/bench/allreduce.h"
#include "lockstep/bench/run_workers.h"
#include "lockstep/comm/cuda_library.h"

namespace lockstep::bench {
namespace {

constexpr int kCpuWorkers = 2;

int num_workers(const AllreduceOptions& options) {
  std::string reason;
  const int gpus = options.device == DeviceChoice::kCpu ? 0 : comm::driver_device_count(&reason);
  if (options.device == DeviceChoice::kGpu && gpus == 0)
    throw ConfigError(fmt::format("bench: --device gpu, but {}. --device cpu measures Gloo", reason));
  if (gpus > 0 && options.num_workers > gpus)
    throw ConfigError(
        fmt::format("bench: --num-workers {}, but this machine shows {} GPU{}: each worker takes "
                    "one. --device cpu measures Gloo with any number",
                    *options.num_workers, gpus, gpus == 1 ? "" : "s"));
  return options.num_workers.value_or(gpus > 0 ? gpus : kCpuWorkers);
}

}  // namespace

int run_allreduce_driver(const AllreduceOptions& options, const std::vector<std::string>& worker_argv) {
  return run_workers(worker_argv, num_workers(options));
}

}  // namespace lockstep::bench
