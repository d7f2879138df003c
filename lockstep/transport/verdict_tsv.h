// A verdict as a line of tab-separated values, for scripts.
#pragma once

#include <string>

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// file, nodes, ranks, inter_node_transport, plugin, provider, gdrdma, why.
std::string tsv_header();
// Ends in a newline. plugin is the networks' names joined by "+", provider the libfabric
// providers; "-" where there is none. nodes counts the hosts that the logs name, ranks is the
// size of the largest communicator.
std::string tsv_row(const std::string& file, const JobVerdict& verdict);

}  // namespace lockstep::transport
