// What tells the hosts of a job apart, where names alone do not: cloned images are all called "localhost".
#pragma once

#include <string>

namespace lockstep::transport {

// Equal for two processes when NCCL would take them for processes of one host (hostname and boot id, or
// NCCL_HOSTID) and they see the same network interfaces (the network namespace).
std::string host_key();
std::string host_name();

}  // namespace lockstep::transport
