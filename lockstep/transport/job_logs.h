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

// Reads each of `paths` (read_log.h). Each is a job of its own, except that those which together
// hold all ranks of a communicator, and each only some of them, are one job: ranks with a file of
// their own.
std::vector<JobLogs> read_job_logs(const std::vector<std::string>& paths);

}  // namespace lockstep::transport
