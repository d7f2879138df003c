// The communicator of a group of one: nothing is sent, results are copies.
#pragma once

#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

class LocalCommunicator : public Communicator {
 public:
  explicit LocalCommunicator(std::string name) : Communicator(std::move(name), 0, 1) {}
  Work all_gather(at::Tensor out, at::Tensor in) override;
  Work all_to_all(at::Tensor out, at::Tensor in) override;
  Work reduce_scatter(at::Tensor out, at::Tensor in) override;
  Work all_reduce(at::Tensor in_out) override;
  Work broadcast(at::Tensor in_out, int root) override;
  void barrier() override {}
  void set_timeout(std::chrono::milliseconds) override {}
};

}  // namespace lockstep::comm
