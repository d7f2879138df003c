// A collective that can be called over and over on the same buffers: what is measured.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "lockstep/bench/operation.h"
#include "lockstep/comm/communicator.h"
#include "lockstep/comm/library_collectives.h"

namespace lockstep::bench {

// Every rank calls it with buffers of the same sizes. On CPU the result is there when it returns; on GPU
// the current stream has it enqueued. For an all-reduce `in` and `out` have the same size and may be the
// same tensor; a gather's `in` may be this rank's part of `out`, a scatter's `out` this rank's part of `in`.
using Collective = std::function<void(const at::Tensor& out, const at::Tensor& in)>;

// What training calls (sums in the fixed order of comm/ordered_sum.h), or the library's own. Both reduce
// in place only: an all-reduce with an `out` of its own is a copy and a reduction of the copy, as any
// caller who keeps the input has to do. They borrow what they are made from.
Collective collective_of(comm::Communicator& communicator, Operation operation);
Collective collective_of(comm::LibraryCollectives& library, Operation operation);

}  // namespace lockstep::bench
