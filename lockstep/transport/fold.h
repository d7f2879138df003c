// The verdict on one communicator, from the evidence of its ranks.
#pragma once

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// Evidence of the whole job that a communicator's verdict needs.
struct JobEvidence {
  const LogEvidence& evidence;
  const HostMap& hosts;
  // Ray printed one line for many: for all ranks of the job the lines' counts stand, and this is
  // the only network and provider that they name. kNone otherwise.
  NameTable::Id network_of_all = NameTable::kNone;
  NameTable::Id provider_of_all = NameTable::kNone;
  LinkLayers links_of_all = 0;
};

CommunicatorVerdict fold(const Communicator& communicator, const JobEvidence& job);

}  // namespace lockstep::transport
