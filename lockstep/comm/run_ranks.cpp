#include "lockstep/comm/run_ranks.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <exception>
#include <thread>
#include <vector>

namespace lockstep::comm {
namespace {

// MKL finds out about the processor with the first product of a process, and not all of that is guarded
// against other threads. Workers' main threads do it each alone; ranks that are threads would do it at once.
// The first run of such a process was once seen to end with bits of its own; that this was why is a guess.
void make_the_first_product_alone() {
  for (const auto type : {at::kFloat, at::kDouble}) at::mm(at::ones({8, 8}, type), at::ones({8, 8}, type));
}

}  // namespace

void run_ranks(int world_size, const std::function<void(Rendezvous&)>& body,
               std::chrono::milliseconds timeout) {
  make_the_first_product_alone();
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
