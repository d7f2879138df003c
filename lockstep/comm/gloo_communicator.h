// Collectives over Gloo, for tensors on CPU.
//
// Operations run on a thread of the communicator's own, one after the other. The
// reduce-scatter is ours: an all-to-all of pieces and a sum in the fixed order of
// ordered_sum.h (Gloo's own is an all-reduce and a slice: 4/3 of the bytes, and its ring
// adds in an order that depends on the rank).
#pragma once

#include <memory>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

struct Group;

// Collective over the group; throws CommError when the others do not come.
std::unique_ptr<Communicator> make_gloo_communicator(Group group);

}  // namespace lockstep::comm
