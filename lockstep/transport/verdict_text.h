// A verdict for people.
#pragma once

#include <string>

#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// Several lines, each ends in a newline:
//   run.log: socket, connected
//     what     2 hosts, 16 ranks: 16 of 16 ranks named their network, all Socket; ...
//     proof    run.log:265: node-0:1000:1700 [0] NCCL INFO Channel 00/0 : ... via NET/Socket/0
//     cause    NCCL finds no network plugin (32 lines, the first: run.log:4)
//     fix      ...
// `name` is what the verdict is about. Bytes of the log that are no printable characters show as "?".
std::string verdict_text(const std::string& name, const JobVerdict& verdict);

}  // namespace lockstep::transport
