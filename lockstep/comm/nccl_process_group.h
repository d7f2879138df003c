// torch's process group over NCCL, as the NCCL communicator and LibraryCollectives use it.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "lockstep/comm/group.h"

namespace lockstep::comm {

// Collective over the group, on the current device. Throws ConfigError when this library was built for
// another NCCL than torch, and what torch throws when the others do not come. Sets the environment
// variables that keep torch from ending the process when a collective fails, unless they are set.
c10::intrusive_ptr<c10d::ProcessGroupNCCL> connect_nccl(const Group& group);

}  // namespace lockstep::comm
