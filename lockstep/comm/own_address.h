// Which address and which interface of this machine lead to another.
#pragma once

#include <string>

namespace lockstep::comm {

// The address of this machine from which `host` is reached, as the routing table says: what the other
// nodes should connect to. `host` itself when it cannot be told.
std::string address_towards(const std::string& host);

// The interface that has `address`; empty when none has.
std::string interface_of(const std::string& address);

}  // namespace lockstep::comm
