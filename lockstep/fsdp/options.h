// How a model is sharded.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lockstep/comm/communicator.h"
#include "lockstep/fsdp/wrap_policy.h"

namespace lockstep::fsdp {

// What is sharded along the mesh's shard axis. Its length says over how many ranks: all of
// them, a node's (hybrid), or one (nothing is sharded).
enum class Strategy {
  kFull,    // parameters are freed after forward and gathered again for backward
  kGradOp,  // parameters stay gathered from forward to backward; gradients and optimizer state are sharded
};

// Sums `in` [W * S] over the ranks into this rank's `out` [S]. Replaceable, so that other ways
// (in two levels, inside nodes and between them) need nothing else changed.
using ReduceScatter = std::function<comm::Work(comm::Communicator&, at::Tensor out, at::Tensor in)>;

struct FsdpOptions {
  Strategy strategy = Strategy::kFull;
  WrapPolicy wrap;  // default: by size, kDefaultMinParameters
  c10::Device device = c10::kCPU;
  c10::ScalarType compute = c10::kFloat;  // parameters in forward and backward
  c10::ScalarType master = c10::kFloat;   // shards and optimizer state
  c10::ScalarType reduce = c10::kFloat;   // what gradients travel as; they are summed in `sum()`
  // Of a shard's grad() where it is not `sum()`. Nothing is lost in `compute` when a step is one backward of
  // one rank, which leaves nothing to add; CHECKs that the mesh has one rank.
  std::optional<c10::ScalarType> grad;
  // Units gathered ahead of their use, and reductions left running while backward goes on.
  // Each costs the memory of one more unit and hides communication behind computation,
  // which pays where communication does not compete for the same cores.
  int prefetch_units = 0;
  int reductions_in_flight = 0;
  bool peer_copies = true;       // gathers read other ranks' memory where they reach it (comm/peer_memory.h)
  ReduceScatter reduce_scatter;  // default: Communicator::reduce_scatter
  // The same bits in the weights from any power of two of ranks, any mesh and any wrap policy, when
  // rank r of W computes micro-batch i * W + r of a step as its i-th and runs one backward for each:
  // the gradients of the micro-batches are summed in one fixed tree (fsdp/gradient_tree.h), each
  // rounded to `reduce` first, and every parameter lies in memory as if it had been allocated by
  // itself. A shard's grad() is then there after the last micro-batch only, replicas sum at every
  // micro-batch, not once a step, and a `reduce_scatter` must add in the order of comm/ordered_sum.h.
  bool elastic = false;

  // What gradients are added in: float32, or float64 where the master is.
  c10::ScalarType sum() const { return master == c10::kDouble ? c10::kDouble : c10::kFloat; }
};

}  // namespace lockstep::fsdp
