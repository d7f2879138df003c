// Whether the buffers of a size can be had on every rank: decided before they are touched, since a host that
// runs out kills a worker instead of refusing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::bench {

// What this host's memory, or the memory group (cgroup v2) that the process is in, has left. `root` is put
// before the paths: "" but for tests. Throws IoError when /proc/meminfo does not say.
int64_t free_host_bytes(const std::string& root);

class Memory {
 public:
  // Collective over `control`, which must outlive it. `local_workers`: how many share this host's memory.
  Memory(comm::Communicator& control, at::Device device, int local_workers);

  // Collective: whether every rank can have `bytes`. On a GPU by taking them and giving them back to
  // torch's allocator.
  bool fits(int64_t bytes);
  // For people, of this rank: "3.2 GiB are free for each of 2 workers".
  std::string words() const;

 private:
  bool fits_here(int64_t bytes) const;

  comm::Communicator& control_;
  at::Device device_;
  int local_workers_;
  int64_t host_share_ = 0;  // CPU: bytes for each worker
};

}  // namespace lockstep::bench
