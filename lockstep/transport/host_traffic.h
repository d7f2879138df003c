// What a host sent, by kind of network device: two readings of its counters make a HostTraffic (moved.h).
#pragma once

#include <vector>

#include "lockstep/base/network_devices.h"
#include "lockstep/transport/moved.h"

namespace lockstep::transport {

// Counters as they stand, summed by kind; absent for a kind without a counter that can be read.
HostTraffic counters_of(const std::vector<NetworkDevice>& devices);

// What was sent between two readings; absent where either is.
HostTraffic sent_between(const HostTraffic& then, const HostTraffic& now);

}  // namespace lockstep::transport
