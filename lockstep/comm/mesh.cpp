#include "lockstep/comm/mesh.h"

#include <numeric>
#include <vector>

#include "lockstep/base/check.h"

namespace lockstep::comm {

Mesh::Mesh(Rendezvous& rendezvous, int shard_size, Backend backend) : position_(rendezvous.position()) {
  const int world_size = rendezvous.world_size();
  LOCKSTEP_CHECK(shard_size > 0 && world_size % shard_size == 0) << shard_size << " of " << world_size;
  const int first = rendezvous.rank() / shard_size * shard_size;
  const int index = rendezvous.rank() - first;

  std::vector<int> all(static_cast<size_t>(world_size)), shard(static_cast<size_t>(shard_size)), replicas;
  std::iota(all.begin(), all.end(), 0);
  std::iota(shard.begin(), shard.end(), first);
  for (int rank = index; rank < world_size; rank += shard_size) replicas.push_back(rank);

  world_ = rendezvous.make_communicator("world", all, backend);
  shard_gather_ = rendezvous.make_communicator("shard_gather", shard, backend);
  shard_reduce_ = rendezvous.make_communicator("shard_reduce", shard, backend);
  replicate_ = rendezvous.make_communicator("replicate", replicas, backend);
}

int64_t Mesh::bytes_sent() const {
  return world_->bytes_sent() + shard_gather_->bytes_sent() + shard_reduce_->bytes_sent() +
         replicate_->bytes_sent();
}

}  // namespace lockstep::comm
