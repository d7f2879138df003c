// Starts the workers of one generation on this machine and watches them to their end.
// What each worker is told: worker_env.h and docs/worker_protocol.md.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/launch/worker_failure.h"

namespace lockstep::launch {

struct LaunchOptions {
  std::vector<std::string> argv;       // the worker's command line; argv[0]: path of its executable
  std::vector<std::string> log_paths;  // by rank; one worker is started for each
  std::string run_dir;
  int generation = 1;
  std::string continue_from;  // WorkerEnv::continue_from
  // After one worker failed, the others have `failure_grace` to end by themselves once told to;
  // after a stop signal to the launcher, `stop_grace` (time for a last checkpoint).
  std::chrono::milliseconds failure_grace{5'000};
  std::chrono::milliseconds stop_grace{60'000};

  // Called between other work, on the thread of `run_workers`.
  std::function<void(const std::string& line)> on_event;      // one JSON object, from rank 0
  std::function<void(const std::string& message)> on_notice;  // for people: "stopping 4 workers ..."
};

struct LaunchResult {
  int exit_code = 0;                     // base/error.h; see below
  std::optional<WorkerFailure> failure;  // the worker whose end was the cause
  std::optional<int> stop_signal;        // the signal to the launcher that ended the run
};

// Returns when no worker is left. The exit code is 0 when all finished; the cause's own code
// when a worker failed, 10 when it died by a signal; 130 after SIGINT and 12 after SIGTERM or
// SIGHUP to the launcher. The signal is passed on once; a second SIGINT kills the workers.
// SIGTSTP (Ctrl-Z) pauses workers and launcher together until SIGCONT.
//
// When one fails the others are told to stop (SIGTERM), then killed: all are gone within 10
// seconds. No worker outlives this process, even when it is killed with SIGKILL.
//
// OMP_NUM_THREADS becomes cores / workers where it is unset. CUDA_VISIBLE_DEVICES is left alone:
// the local rank picks the device.
//
// Call it from a thread that lives as long as the workers, and from one thread at a time.
// Throws IoError when a log cannot be written and CommandError when a worker cannot be started;
// workers that were started by then are killed.
LaunchResult run_workers(const LaunchOptions& options);

// The path of the program that runs now, to start workers from.
std::string own_executable();

}  // namespace lockstep::launch
