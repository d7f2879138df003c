// The lines that prove a verdict.
#pragma once

#include <string>
#include <vector>

#include "lockstep/transport/communicator.h"

namespace lockstep::transport {

// For each of the networks in `used` (sorted) the earliest line: of a connection across hosts over
// it, else one that names it.
std::vector<Quote> prove(const std::vector<std::string>& used, const LogEvidence& evidence,
                         const HostMap& hosts, const std::vector<Communicator>& communicators);

}  // namespace lockstep::transport
