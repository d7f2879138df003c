// torch's process group over Gloo, as the Gloo communicator and LibraryCollectives use it.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "lockstep/comm/group.h"

namespace lockstep::comm {

// Collective over the group. Connects over GLOO_SOCKET_IFNAME where it is set, else over loopback on one
// host and over the way to rank 0's host on several. Throws what torch throws when the others do not come
// within the group's timeout.
c10::intrusive_ptr<c10d::Backend> connect_gloo(const Group& group);

}  // namespace lockstep::comm
