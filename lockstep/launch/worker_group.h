// The workers of one generation as processes: started together, told and reaped together.
//
// Each leads its own process group, in the launcher's session: Ctrl-C in a terminal reaches the
// launcher alone, which decides what the workers are told, and what a worker starts ends with it.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/process.h"
#include "lockstep/launch/local_launcher.h"

namespace lockstep::launch {

class WorkerGroup {
 public:
  // Throws as run_workers does; workers that were started by then are killed.
  explicit WorkerGroup(const LaunchOptions& options);
  ~WorkerGroup();  // kills those that still run
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  // Becomes readable when rank 0 has written events.
  int event_fd() const { return event_reader_.get(); }
  // One for each worker that still runs; readable when it ends.
  std::vector<int> exit_fds() const;
  int num_running() const;

  // To every worker that still runs.
  void send(int signal);
  // As `send`, for signals that ask a worker to end: later exits count as told to stop.
  void stop(int signal);
  // Those that have ended since the last call, and all since the start in `exits`.
  std::vector<WorkerExit> reap();
  const std::vector<WorkerExit>& exits() const { return exits_; }

 private:
  FileDescriptor event_reader_;
  std::vector<Process> workers_;  // by rank; each leads its own process group
  std::vector<bool> running_;     // by rank: not reaped yet
  std::vector<WorkerExit> exits_;
  bool told_to_stop_ = false;
};

}  // namespace lockstep::launch
