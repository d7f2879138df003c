// What the ranks do to each other before training, so that the network shows itself: NCCL connects two ranks
// only when a collective first needs them.
#pragma once

#include <c10/core/Device.h>

#include "lockstep/comm/mesh.h"
#include "lockstep/transport/efficiency.h"

namespace lockstep::train {

// Collective. On each process group the collectives that training uses on it, with a small and with a large
// tensor: NCCL has other algorithms, with connections of their own, for each. Moves a few hundred MB at most.
void exercise(comm::Mesh& mesh, c10::Device device);

// Collective. All-gathers on the shard group, or on the replicas' where nothing is sharded; larger ones until
// one takes 50 ms, or 256 MiB on a GPU and 64 MiB on the CPU. Takes a second or so.
transport::Bandwidth measure_bandwidth(comm::Mesh& mesh, c10::Device device);

}  // namespace lockstep::train
