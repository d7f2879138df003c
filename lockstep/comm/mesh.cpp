#include "lockstep/comm/mesh.h"

#include <numeric>

#include "lockstep/base/check.h"
#include "lockstep/comm/local_communicator.h"
#include "lockstep/comm/stand_in_communicator.h"

namespace lockstep::comm {
namespace {

std::vector<int> consecutive(int first, int count) {
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

std::vector<int> shard_ranks(int rank, int shard_size) {
  return consecutive(rank / shard_size * shard_size, shard_size);
}

std::vector<int> replica_ranks(int rank, int shard_size, int world_size) {
  std::vector<int> ranks;
  for (int other = rank % shard_size; other < world_size; other += shard_size) ranks.push_back(other);
  return ranks;
}

}  // namespace

Mesh::Mesh(Rendezvous& rendezvous, int shard_size, Backend backend) : position_(rendezvous.position()) {
  const int rank = rendezvous.rank();
  const int world_size = rendezvous.world_size();
  LOCKSTEP_CHECK(shard_size > 0 && world_size % shard_size == 0) << shard_size << " of " << world_size;
  const auto shard = shard_ranks(rank, shard_size);
  world_ = rendezvous.make_communicator("world", consecutive(0, world_size), backend);
  shard_gather_ = rendezvous.make_communicator("shard_gather", shard, backend);
  shard_reduce_ = rendezvous.make_communicator("shard_reduce", shard, backend);
  replicate_ =
      rendezvous.make_communicator("replicate", replica_ranks(rank, shard_size, world_size), backend);
}

Mesh::Mesh(Position& position, int stand_in_size)
    : position_(position),
      world_(std::make_unique<StandInCommunicator>("world", stand_in_size)),
      shard_gather_(std::make_unique<StandInCommunicator>("shard_gather", stand_in_size)),
      shard_reduce_(std::make_unique<StandInCommunicator>("shard_reduce", stand_in_size)),
      replicate_(std::make_unique<LocalCommunicator>("replicate")) {}

std::unique_ptr<Mesh> Mesh::stand_in(Position& position, int size) {
  return std::unique_ptr<Mesh>(new Mesh(position, size));
}

std::vector<Mesh::Membership> Mesh::memberships() {
  const auto shard = shard_ranks(rank(), shard_size());
  return {{world_.get(), consecutive(0, world_size())},
          {shard_gather_.get(), shard},
          {shard_reduce_.get(), shard},
          {replicate_.get(), replica_ranks(rank(), shard_size(), world_size())}};
}

void Mesh::set_timeout(std::chrono::milliseconds timeout) {
  for (const auto& member : memberships()) member.communicator->set_timeout(timeout);
}

int64_t Mesh::bytes_sent() const {
  return world_->bytes_sent() + shard_gather_->bytes_sent() + shard_reduce_->bytes_sent() +
         replicate_->bytes_sent();
}

}  // namespace lockstep::comm
