// Tensors of the other ranks, where one process may read them directly: GPUs of one host that reach each
// other. In liblockstep_cuda.so.
//
// Copies from there are made by a GPU's copy engines, which leave its multiprocessors to others; NCCL's
// kernels occupy some for as long as they run.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

class PeerMemory {
 public:
  // Collective, over ranks of one host. `tensors`: this rank's, on the current device, as many as every
  // rank's and alike, contiguous; their memory stays theirs as long as any rank has the result. Null on every
  // rank where one of them cannot be reached by another; `why` then says so, on every rank alike. Throws
  // CommError.
  static std::unique_ptr<PeerMemory> map(Communicator& comm, const std::vector<at::Tensor>& tensors,
                                         std::string& why);

  // Where the tensor that lies at `mine` here, one of `tensors`, begins on each rank. Empty: it is none.
  const std::vector<const void*>& places(const void* mine) const;

 private:
  std::vector<const void*> tensors_;              // this rank's
  std::vector<std::vector<const void*>> places_;  // by tensor and rank
  std::vector<std::shared_ptr<void>> mapped_;     // other processes' memory, while it is mapped here
};

}  // namespace lockstep::comm
