#include "lockstep/comm/run_ranks.h"

#include <exception>
#include <thread>
#include <vector>

namespace lockstep::comm {

void run_ranks(int world_size, const std::function<void(Rendezvous&)>& body,
               std::chrono::milliseconds timeout) {
  const auto store = make_in_process_store();
  std::vector<std::exception_ptr> errors(static_cast<size_t>(world_size));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    ranks.emplace_back([&, rank] {
      try {
        const auto rendezvous = Rendezvous::in_process(*store, rank, world_size, timeout);
        body(*rendezvous);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (auto& rank : ranks) rank.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

void run_mesh(int world_size, int shard_size, const std::function<void(Mesh&)>& body) {
  run_ranks(world_size, [&](Rendezvous& rendezvous) {
    Mesh mesh(rendezvous, shard_size, Backend::kGloo);
    body(mesh);
  });
}

}  // namespace lockstep::comm
