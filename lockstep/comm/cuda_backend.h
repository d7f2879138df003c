// What liblockstep_cuda.so offers to the core, which is built without CUDA: the library
// registers its one CudaBackend while it is being loaded (comm/cuda_library.h).
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/group.h"

namespace c10d {
class Backend;
}

namespace lockstep::comm {

class CudaBackend {
 public:
  virtual ~CudaBackend() = default;

  // GPUs that this process may use (CUDA_VISIBLE_DEVICES counts).
  virtual int device_count() = 0;
  // For this thread, with a stream of its own as the current one: the default one cannot be recorded
  // (kernels/launch_recorder.h). A rank does it before its first tensor. Throws ConfigError when there is
  // no such device.
  virtual void set_device(int device) = 0;
  // Collective over the group, on this thread's device (comm/nccl_communicator.h).
  virtual std::unique_ptr<Communicator> make_nccl(const Group& group) = 0;
  // The same, as torch's own process group (comm/library_collectives.h).
  virtual c10::intrusive_ptr<c10d::Backend> connect_nccl(const Group& group) = 0;

  // comm/ordered_sum.h for tensors on the current device; enqueues on the current stream.
  virtual void ordered_sum(const at::Tensor& out, const at::Tensor& parts) = 0;

  // Bytes that torch's allocator has held in tensors at most, since the start.
  virtual int64_t peak_bytes(int device) = 0;
  struct Memory {
    int64_t total_bytes, free_bytes;  // of the device, all processes counted
    int64_t tensor_bytes;             // that this process' tensors hold now
    int64_t allocator_bytes;          // that torch's allocator has taken for them
    int64_t allowed_bytes;            // that it may take (per_process_memory_fraction)
  };
  virtual Memory memory(int device) = 0;
  // Called from now on, in place of the observer before, when torch's allocator finds no memory and before it
  // throws c10::OutOfMemoryError: whatever the memory holds is still there then. Null: nobody.
  virtual void watch_out_of_memory(std::function<void(int64_t asked_bytes)> observer) = 0;
};

// Null when the CUDA library is not loaded.
CudaBackend* cuda_backend();
// Called once, by the library's initialiser. `backend` lives as long as the process.
void register_cuda_backend(CudaBackend* backend);

}  // namespace lockstep::comm
