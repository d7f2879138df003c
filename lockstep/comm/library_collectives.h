// Collectives as the library under a communicator does them itself: torch's process group, over Gloo or
// NCCL, with the library's own algorithms and its own order of additions. For measuring a network
// against figures of nccl-tests or PyTorch; training uses Communicator, whose sums have a fixed order.
//
// Collective: every rank makes the same calls in the same order. On CPU a call returns when its result is
// there; on GPU it is enqueued on the current stream. Throws CommError when a peer is lost and HangError
// past the timeout; the object is of no more use then.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "lockstep/comm/rendezvous.h"

namespace lockstep::comm {

class LibraryCollectives {
 public:
  // Among all ranks of the job, once in a program. They meet at the store of a Rendezvous that was made
  // from the same `options` and lives longer. kNccl uses the current CUDA device and needs the CUDA library.
  static std::unique_ptr<LibraryCollectives> connect(const RendezvousOptions& options, Backend backend);
  ~LibraryCollectives();

  // W = ranks. in_out: [n].
  void all_reduce(at::Tensor in_out);
  // out: [W * n], in: [n]; `in` may be this rank's part of `out`.
  void all_gather(at::Tensor out, at::Tensor in);
  // out: [n], in: [W * n]; `out` may be this rank's part of `in`.
  void reduce_scatter(at::Tensor out, at::Tensor in);

 private:
  struct Impl;
  explicit LibraryCollectives(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::comm
