// Which worker's end is the cause when several have ended, and how to say so.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/process.h"

namespace lockstep::launch {

struct WorkerExit {
  int rank = 0;
  pid_t pid = 0;
  ExitStatus status;
  bool told_to_stop = false;  // the launcher had sent it a signal before

  // Neither finished nor stopped as it was told to.
  bool failed() const;
  // What the launcher exits with when this is the cause: the worker's own code; peer lost for a signal.
  int exit_code() const;
};

// The cause among `exits`, given in the order in which they were seen: the first that failed by
// itself. One that exits with "peer lost" saw another fail, so it is the cause only when no
// other is.
std::optional<WorkerExit> find_cause(const std::vector<WorkerExit>& exits);

struct WorkerFailure {
  WorkerExit exit;
  std::string log_path;
  std::vector<std::string> log_tail;

  // What the worker said of its end: "lockstep: error: ..." as the last line of its log, without
  // that prefix. Nothing when it died by a signal or said nothing.
  std::optional<std::string> own_error() const;

  // One line when the worker said what was wrong; else the rank, its signal or exit code, and below
  // it the log's last lines.
  std::string describe() const;
};

}  // namespace lockstep::launch
