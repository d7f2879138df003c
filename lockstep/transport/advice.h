// Why a verdict is what it is, and what to do about it.
#pragma once

#include <vector>

#include "lockstep/transport/host_map.h"
#include "lockstep/transport/log_evidence.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// Findings for `verdict`, the most telling first; none for one that needs no explaining.
std::vector<Finding> advise(const JobVerdict& verdict, const LogEvidence& evidence, const HostMap& hosts);

}  // namespace lockstep::transport
