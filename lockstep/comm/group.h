// What a communicator is made from. For the backends only; users call
// Rendezvous::make_communicator.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "lockstep/comm/position.h"

namespace lockstep::comm {

struct Group {
  std::string name;
  int rank = 0;                           // in the group
  std::vector<int> ranks;                 // global ranks, rising
  c10::intrusive_ptr<c10d::Store> store;  // a name space of this group's own
  std::chrono::milliseconds timeout{0};
  bool one_host = true;
  std::string rank0_host;
  Position* position = nullptr;
  // Names those among `ranks` that are silent or behind, in words.
  std::function<std::string()> describe_peers;

  int size() const { return static_cast<int>(ranks.size()); }
  int global_rank() const { return ranks[static_cast<size_t>(rank)]; }
};

// What a collective that failed throws: HangError when the library says that it waited too long, else
// CommError. With own rank, operation, peers, and what the library said.
std::exception_ptr peer_failure(const Group& group, const char* operation, const std::string& library_said);

}  // namespace lockstep::comm
