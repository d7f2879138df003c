#include "lockstep/bench/step_clock.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace lockstep::bench {

void StepClock::mark() {
  if (!device_.is_cuda()) {
    on_cpu_.push_back(std::chrono::steady_clock::now());
    return;
  }
  on_gpu_.emplace_back(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  on_gpu_.back().record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
}

std::vector<double> StepClock::step_ms() const {
  std::vector<double> times;
  for (size_t i = 1; i < on_cpu_.size(); ++i)
    times.push_back(std::chrono::duration<double, std::milli>(on_cpu_[i] - on_cpu_[i - 1]).count());
  if (!on_gpu_.empty()) on_gpu_.back().synchronize();
  for (size_t i = 1; i < on_gpu_.size(); ++i) times.push_back(on_gpu_[i - 1].elapsedTime(on_gpu_[i]));
  return times;
}

}  // namespace lockstep::bench
