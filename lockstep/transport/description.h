// What a job's logs tell beside the verdict.
#pragma once

#include "lockstep/transport/host_map.h"
#include "lockstep/transport/log_evidence.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// Fills in logs, hosts, libraries, libfabric's choices, warnings and environment.
void describe(JobVerdict& verdict, const LogEvidence& evidence, const HostMap& hosts);

}  // namespace lockstep::transport
