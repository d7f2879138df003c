// Signals to the launcher as bytes in a pipe, so that one `poll` waits for them with
// everything else.
#pragma once

#include <signal.h>

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "lockstep/base/file_descriptor.h"

namespace lockstep::launch {

// While one lives, SIGINT, SIGTERM, SIGHUP and SIGTSTP no longer act on this process by
// themselves. A SIGHUP that was ignored before (nohup) stays ignored. At most one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // the former handlers are back
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int poll_fd() const { return reader_.get(); }
  // Those that came since the last call, in order. Never blocks.
  std::vector<int> take();

 private:
  FileDescriptor reader_, writer_;
  std::map<int, struct sigaction> former_;
};

// Waits; returns early, with the signal, when SIGINT, SIGTERM or SIGHUP comes.
std::optional<int> wait_for_stop_signal(std::chrono::milliseconds timeout);

}  // namespace lockstep::launch
