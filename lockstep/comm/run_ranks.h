// Ranks as threads of this process, over real Gloo on loopback: for tests.
#pragma once

#include <chrono>
#include <functional>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/mesh.h"
#include "lockstep/comm/rendezvous.h"

namespace lockstep::comm {

// Runs `body` on `world_size` threads, each with its own rendezvous, and waits for all. The
// first error by rank is rethrown. Ranks that wait for one that threw end by the timeout.
void run_ranks(int world_size, const std::function<void(Rendezvous&)>& body,
               std::chrono::milliseconds timeout = std::chrono::seconds(60));

// The same with a mesh.
void run_mesh(int world_size, int shard_size, const std::function<void(Mesh&)>& body);

}  // namespace lockstep::comm
