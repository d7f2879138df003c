// Collectives over NCCL, for tensors on the current CUDA device. In liblockstep_cuda.so;
// reached through CudaBackend::make_nccl.
//
// Data moves on NCCL's own stream, sums run on one of this communicator's; each starts once
// the caller's current stream has come to the call. `Work::wait` makes the current stream
// wait, `barrier` blocks the thread. As with Gloo, sums are an exchange of pieces and a
// fixed order of additions (comm/ordered_sum.h): the bits depend neither on NCCL's choice
// of algorithm nor on the device.
//
// A collective that does not end within the group's timeout, or that NCCL reports as
// failed, is aborted, and the next call or wait throws CommError. Until then the GPU waits:
// a peer that dies on the same host is seen by the timeout alone.
#pragma once

#include <memory>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/group.h"

namespace lockstep::comm {

// Collective over the group. Throws CommError when the others do not come, ConfigError when
// this library was built for another NCCL than torch.
std::unique_ptr<Communicator> make_nccl_communicator(Group group);

}  // namespace lockstep::comm
