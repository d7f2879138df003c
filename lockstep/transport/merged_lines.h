// What Ray's merged lines say about the ranks that they do not show.
#pragma once

#include <vector>

#include "lockstep/transport/communicator.h"
#include "lockstep/transport/log_evidence.h"

namespace lockstep::transport {

// Ray shows one line for many equal ones, with their number. When there are enough for all ranks
// and all say the same, they stand for the ranks that are not shown. kNone where they do not.
MergedLines count_merged_lines(const LogEvidence& evidence, const std::vector<Communicator>& communicators);

}  // namespace lockstep::transport
