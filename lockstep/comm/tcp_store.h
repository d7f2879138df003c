// The store on rank 0, over TCP. For the folder itself; users make a Rendezvous.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "lockstep/comm/rendezvous.h"

namespace lockstep::comm {

// A connection of its own to it. `serve`: this process holds it as well. Throws what torch throws when nobody
// answers within options.timeout, or the port is in use.
c10::intrusive_ptr<c10d::Store> open_tcp_store(const RendezvousOptions& options, bool serve);

}  // namespace lockstep::comm
