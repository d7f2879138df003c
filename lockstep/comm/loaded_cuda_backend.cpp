// The library's CudaBackend, registered while the library is being loaded.
#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>

#include <cstdlib>

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
