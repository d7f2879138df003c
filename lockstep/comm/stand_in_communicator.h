// A communicator of one process that stands for rank 0 of a larger group: it takes the memory that the
// group's rank would, and sends nothing. What the other ranks would give is made up: their shards and
// gradients are copies of this rank's. So results mean nothing, and whether a shard of a model fits a device,
// and how long a step computes, can be seen without the other devices.
#pragma once

#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// For the CPU and the GPU; on the GPU everything runs on the current stream.
class StandInCommunicator : public Communicator {
 public:
  StandInCommunicator(std::string name, int size) : Communicator(std::move(name), 0, size) {}
  Work all_gather(at::Tensor out, at::Tensor in) override;
  Work all_to_all(at::Tensor out, at::Tensor in) override;
  // Holds a copy of `in` meanwhile, as NCCL's does.
  Work reduce_scatter(at::Tensor out, at::Tensor in) override;
  // The sum of equal values: in_out * size.
  Work all_reduce(at::Tensor in_out) override;
  Work broadcast(at::Tensor in_out, int root) override;
  void barrier() override {}
  void set_timeout(std::chrono::milliseconds) override {}
};

}  // namespace lockstep::comm
