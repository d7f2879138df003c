// Every rank tells the store twice a second that it lives and where it is. When a
// collective fails, this says which peers have gone silent and which are behind: Gloo and NCCL
// know addresses at most, people think in ranks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "lockstep/comm/position.h"

namespace lockstep::comm {

class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kInterval{500};

  // Starts beating on a thread of its own. `store` must be a connection of its own: a
  // blocked wait on a shared one would stop the beat. `position` must outlive this.
  Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, const Position& position);
  ~Heartbeat();

  struct Peer {
    int rank = 0;
    bool silent = false;   // did not beat during four intervals
    int64_t sequence = 0;  // Position::sequence that it was last seen with
    std::string words;     // where it was last seen; empty: never heard of
  };
  // The others among `ranks`. Takes 2 s. Throws what the store throws when it does not answer: then
  // rank 0, which hosts it, is gone.
  std::vector<Peer> look_at(const std::vector<int>& ranks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::comm
