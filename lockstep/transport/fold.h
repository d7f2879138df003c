// The verdict on one communicator, from the evidence of its ranks.
#pragma once

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// Evidence of the whole job that a communicator's verdict needs.
struct JobEvidence {
  const LogEvidence& evidence;
  const HostMap& hosts;
  const MergedLines& merged;
};

CommunicatorVerdict fold(const Communicator& communicator, const JobEvidence& job);

}  // namespace lockstep::transport
