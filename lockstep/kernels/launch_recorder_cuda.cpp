#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "lockstep/kernels/launch_recorder.h"

namespace lockstep::kernels {
namespace {

class RecordedLaunches : public Launches {
 public:
  at::cuda::CUDAGraph graph;
  void replay() override { graph.replay(); }
};

class CudaLaunchRecorder : public LaunchRecorder {
 public:
  std::unique_ptr<Launches> record(const std::function<void()>& body) override {
    auto launches = std::make_unique<RecordedLaunches>();
    try {
      if (!holds_pool_) {
        // What is kept for launches one by one, as much as will be recorded, cannot be freed while recording.
        c10::cuda::CUDACachingAllocator::emptyCache();
        auto first = std::make_unique<RecordedLaunches>();
        capture(first->graph, [&] { (void)at::zeros({1}, at::TensorOptions().device(at::kCUDA, device_)); });
        holds_pool_ = std::move(first);
      }
      capture(launches->graph, body);
    } catch (...) {
      clean_up();
      throw;
    }
    return launches;
  }

 private:
  void capture(at::cuda::CUDAGraph& graph, const std::function<void()>& body) const {
    // Of this thread alone: others go on with copies and with asking NCCL for its state.
    graph.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    try {
      body();
    } catch (...) {
      try {
        graph.capture_end();
      } catch (const std::exception&) {
        // The body's own error is the one to report.
      }
      throw;
    }
    graph.capture_end();
  }

  // torch leaves its allocator and its generator in a capture that failed.
  void clean_up() const {
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, pool_);
    } catch (const std::exception&) {
      // It had not begun, or has been ended.
    }
    auto& generator = *at::cuda::detail::getDefaultCUDAGenerator(device_).unsafeGetGeneratorImpl();
    generator.graphsafe_set_state(generator.clone());
    (void)cudaGetLastError();  // is being thrown
  }

  const c10::DeviceIndex device_ = c10::cuda::current_device();
  const c10::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  std::unique_ptr<Launches> holds_pool_;  // torch cannot use a pool again whose last recording is gone
};

const bool registered = [] {
  register_launch_recorder(
      []() -> std::unique_ptr<LaunchRecorder> { return std::make_unique<CudaLaunchRecorder>(); });
  return true;
}();

}  // namespace
}  // namespace lockstep::kernels
