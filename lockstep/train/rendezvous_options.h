// Where the ranks meet, from what a worker was told.
#pragma once

#include "lockstep/comm/rendezvous.h"
#include "lockstep/launch/worker_env.h"

namespace lockstep::train {

// With comm's own timeout.
comm::RendezvousOptions rendezvous_options(const launch::WorkerEnv& env);

}  // namespace lockstep::train
