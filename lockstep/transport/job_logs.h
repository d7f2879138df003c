// Logs as a command line names them, sorted into jobs.
#pragma once

#include <string>
#include <vector>

#include "lockstep/transport/log_evidence.h"

namespace lockstep::transport {

struct JobLogs {
  std::vector<std::string> arguments;  // as given; more than one where they belong together
  LogEvidence evidence;

  // "run.log", or "rank-0.log and 15 more".
  std::string name() const;
};

// Reads each of `paths`: a file, a folder with a job's logs (all files in it and below, hidden
// ones left out), or "-" for standard input. Each is a job of its own, except that those which
// together hold all ranks of a communicator, and each only some of them, are one job: ranks with
// a file of their own. Throws ConfigError for a path that is not there and a folder without files, IoError
// when reading fails. Memory: see LogEvidence; files are read once, in blocks.
std::vector<JobLogs> read_job_logs(const std::vector<std::string>& paths);

}  // namespace lockstep::transport
