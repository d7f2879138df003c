// The library's CudaBackend, registered while the library is being loaded.
#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/nccl_communicator.h"
#include "lockstep/comm/nccl_process_group.h"
#include "lockstep/comm/ordered_sum_cuda.h"

namespace lockstep::comm {
namespace {

using c10::cuda::CUDACachingAllocator::getDeviceStats;
using c10::cuda::CUDACachingAllocator::resetPeakStats;
constexpr auto kAllPools = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

class LoadedCudaBackend : public CudaBackend {
 public:
  int device_count() override { return c10::cuda::device_count(); }

  void set_device(int device) override {
    if (device < 0 || device >= device_count()) {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      throw ConfigError(
          fmt::format("cuda: this worker needs GPU {}, but it sees {} (CUDA_VISIBLE_DEVICES {}). Lower "
                      "scaling.num_workers to the "
                      "number of GPUs, or set scaling.use_gpu: false",
                      device, device_count(), visible ? fmt::format("is \"{}\"", visible) : "is not set"));
    }
    at::globalContext().lazyInitDevice(at::kCUDA);
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
  }

  std::unique_ptr<Communicator> make_nccl(const Group& group) override {
    return make_nccl_communicator(group);
  }

  c10::intrusive_ptr<c10d::Backend> connect_nccl(const Group& group) override {
    return comm::connect_nccl(group);
  }

  void ordered_sum(const at::Tensor& out, const at::Tensor& parts) override { ordered_sum_cuda(out, parts); }

  int64_t peak_bytes(int device) override {
    return getDeviceStats(static_cast<c10::DeviceIndex>(device)).allocated_bytes[kAllPools].peak;
  }

  Memory memory(int device) override {
    const auto index = static_cast<c10::DeviceIndex>(device);
    const c10::cuda::CUDAGuard guard(index);
    size_t free_bytes = 0, total_bytes = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    const auto stats = getDeviceStats(index);
    const double fraction = c10::cuda::CUDACachingAllocator::getMemoryFraction(index);
    return {.total_bytes = static_cast<int64_t>(total_bytes),
            .free_bytes = static_cast<int64_t>(free_bytes),
            .tensor_bytes = stats.allocated_bytes[kAllPools].current,
            .allocator_bytes = stats.reserved_bytes[kAllPools].current,
            .allowed_bytes = static_cast<int64_t>(fraction * static_cast<double>(total_bytes))};
  }

  void watch_out_of_memory(std::function<void(int64_t)> observer) override {
    if (!watching_) {  // observers stay attached for good
      c10::cuda::CUDACachingAllocator::attachOutOfMemoryObserver(
          [this](int64_t, size_t asked, size_t, size_t) {
            const std::scoped_lock lock(mutex_);
            if (observer_) observer_(static_cast<int64_t>(asked));
          });
      watching_ = true;
    }
    const std::scoped_lock lock(mutex_);
    observer_ = std::move(observer);
  }

 private:
  std::mutex mutex_;
  std::function<void(int64_t)> observer_;
  bool watching_ = false;
};

const bool registered = [] {
  // cuBLAS gives the same bits in every run only with a workspace of fixed size, which it reads
  // here when it makes its first handle. It costs no more than the default: 32 MiB.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  static LoadedCudaBackend backend;
  register_cuda_backend(&backend);
  return true;
}();

}  // namespace
}  // namespace lockstep::comm
