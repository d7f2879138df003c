#include <fmt/format.h>

#include <iostream>

#include "lockstep/base/error.h"
#include "lockstep/base/temporary_folder.h"
#include "lockstep/bench/allreduce.h"
#include "lockstep/bench/output.h"
#include "lockstep/comm/cuda_library.h"
#include "lockstep/launch/local_launcher.h"

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
  const TemporaryFolder logs;  // which nobody needs once what went wrong was printed
  launch::LaunchOptions launch{.argv = worker_argv};
  for (int rank = 0, n = num_workers(options); rank < n; ++rank)
    launch.log_paths.push_back(logs / fmt::format("rank-{:03}.log", rank));
  launch.on_event = [](const std::string& line) { std::cout << printed_text(line) << std::flush; };
  launch.on_notice = [](const std::string& message) { std::cerr << "lockstep: " << message << std::endl; };
  const launch::LaunchResult result = launch::run_workers(launch);
  if (result.failure) {
    const auto own = result.failure->own_error();
    std::cerr << "lockstep: error: " << (own ? *own : result.failure->describe()) << std::endl;
  }
  return result.exit_code;
}

}  // namespace lockstep::bench
