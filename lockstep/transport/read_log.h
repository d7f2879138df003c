// Reads what a command line names as a log.
#pragma once

#include <string>

#include "lockstep/transport/log_evidence.h"

namespace lockstep::transport {

// `path` is a file, a folder (all files in it and below, in the order of their names, hidden ones
// left out) or "-" for standard input. Reads in blocks, once. Throws ConfigError for a path that
// is not there and a folder without files, IoError when reading fails.
LogEvidence read_log(const std::string& path);

}  // namespace lockstep::transport
