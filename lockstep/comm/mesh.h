// The ranks of a job laid out along two axes: parameters are sharded along `shard` and
// replicated along `replicate`. Rank = replicate_index * shard_size + shard_index, so the
// ranks that share one set of shards are neighbours: the ones of a node, when the shard axis
// is as long as a node has ranks.
//
//   full, grad_op: shard = W, replicate = 1      none: shard = 1, replicate = W
//   hybrid: shard = ranks a node, replicate = nodes
//
// The shard axis has two communicators, so that gathers and reductions overlap and do not
// have to interleave in the same order on every rank.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous.h"

namespace lockstep::comm {

class Mesh {
 public:
  // Collective. `shard_size` divides the world size.
  Mesh(Rendezvous& rendezvous, int shard_size, Backend backend);
  // Rank 0 of `size` ranks that all share one set of shards, and are not there
  // (comm/stand_in_communicator.h).
  static std::unique_ptr<Mesh> stand_in(Position& position, int size);

  // A communicator with the global ranks that it joins, rising.
  struct Membership {
    Communicator* communicator;
    std::vector<int> ranks;
  };
  // This rank's four; those of one rank move nothing.
  std::vector<Membership> memberships();

  Communicator& world() { return *world_; }
  Communicator& shard_gather() { return *shard_gather_; }
  Communicator& shard_reduce() { return *shard_reduce_; }
  Communicator& replicate() { return *replicate_; }

  int rank() const { return world_->rank(); }
  int world_size() const { return world_->size(); }
  int shard_size() const { return shard_gather_->size(); }
  int shard_index() const { return shard_gather_->rank(); }
  int replicate_size() const { return replicate_->size(); }
  Position& position() { return position_; }

  // Of all four: Communicator::set_timeout.
  void set_timeout(std::chrono::milliseconds timeout);

  // What this rank has sent through all communicators of the mesh.
  int64_t bytes_sent() const;

 private:
  Mesh(Position& position, int stand_in_size);

  Position& position_;
  std::unique_ptr<Communicator> world_, shard_gather_, shard_reduce_, replicate_;
};

}  // namespace lockstep::comm
