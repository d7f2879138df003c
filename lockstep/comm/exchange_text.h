// Words between ranks: reasons, names, small JSON. Not for the step path.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// Collective. Every rank's text, by rank. `device`: where the communicator's tensors live. Sends
// W times the longest text. Throws CommError.
std::vector<std::string> all_gather_text(Communicator& comm, const std::string& mine, c10::Device device);

// Collective. `root`'s text on every rank; what others pass is not looked at.
std::string broadcast_text(Communicator& comm, const std::string& text, int root, c10::Device device);

}  // namespace lockstep::comm
