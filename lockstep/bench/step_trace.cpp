#include "lockstep/bench/step_trace.h"

#include <kineto/ActivityType.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <filesystem>
#include <set>

#include "lockstep/base/error.h"

namespace lockstep::bench {

std::vector<KernelRun> trace_step(const std::string& path, const std::function<void()>& step) {
  namespace profiler = torch::profiler::impl;
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  const std::set<profiler::ActivityType> activities{profiler::ActivityType::CPU,
                                                    profiler::ActivityType::CUDA};
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  step();
  const auto result = torch::autograd::profiler::disableProfiler();
  result->save(path);
  if (!std::filesystem::exists(path))  // Kineto only logs it
    throw IoError("bench: the trace cannot be written to " + path + ": is its folder there and writable?");
  std::vector<KernelRun> runs;
  for (const auto& event : result->events()) {
    // Torch's names for ranges of kernels, around NCCL's for example, would count these twice.
    const auto type = static_cast<libkineto::ActivityType>(event.activityType());
    if (event.deviceType() != c10::kCUDA || type == libkineto::ActivityType::GPU_USER_ANNOTATION) continue;
    runs.push_back(
        {event.name(), static_cast<int64_t>(event.startNs()), static_cast<int64_t>(event.endNs())});
  }
  return runs;
}

}  // namespace lockstep::bench
