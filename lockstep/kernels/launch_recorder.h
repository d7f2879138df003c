// Kernel launches recorded once and then replayed by a single call: CUDA graphs. Where tensors are small the
// host's hundreds of calls take longer than the kernels that they launch.
#pragma once

#include <functional>
#include <memory>

namespace lockstep::kernels {

// What was recorded. It reads and writes the memory that its kernels had when they were recorded.
class Launches {
 public:
  virtual ~Launches() = default;
  // On the current stream. Cost on the host: some 10 µs, however many kernels there are.
  virtual void replay() = 0;
};

// Records on one device. Tensors that are made while it records come from a memory pool of its own, which
// nothing else allocates from: what is freed there goes to later recordings of the same recorder. So those
// are right only if replayed one after the other, each before the next one's memory is written.
class LaunchRecorder {
 public:
  virtual ~LaunchRecorder() = default;
  // Runs `body`, whose kernels do not run now. It must not wait for the device, and stay on the current
  // stream, which must not be the default one. Throws c10::Error or what `body` throws; the stream is
  // usable then, and nothing was recorded.
  virtual std::unique_ptr<Launches> record(const std::function<void()>& body) = 0;
};

// On the current CUDA device. Null where the CUDA library is not loaded.
std::unique_ptr<LaunchRecorder> make_launch_recorder();

// Called once, by the CUDA library's initialiser.
void register_launch_recorder(std::unique_ptr<LaunchRecorder> (*make)());

}  // namespace lockstep::kernels
