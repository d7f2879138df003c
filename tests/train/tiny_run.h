// Runs of examples/tiny.yaml by the real program, in a folder that goes with the test.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/process.h"

namespace lockstep::train::testing {

class TinyRun {
 public:
  TinyRun();
  ~TinyRun();

  // `lockstep train examples/tiny.yaml run.dir=<dir> ARGUMENTS`; later arguments win.
  Process start(const std::vector<std::string>& arguments) { return Process::start(options(arguments)); }
  // How that is started, for a test that changes it.
  ProcessOptions options(const std::vector<std::string>& arguments) const;
  // The same, to its end; returns how it ended. Output: `out`, `err`.
  ExitStatus run(const std::vector<std::string>& arguments = {});

  std::string dir() const { return folder_ / "run"; }
  std::filesystem::path folder() const { return folder_; }
  std::string out() const;
  std::string err() const;
  std::string log(int rank, int generation = 1) const;

  // Of one generation of workers.
  std::vector<Json> metrics(int generation = 1) const;
  std::vector<Json> events(const std::string& name, int generation = 1) const;
  Json finished(int generation = 1) const { return events("finished", generation).at(0); }
  // What the driver wrote at its `start`-th start.
  std::vector<Json> driver_events(const std::string& name, int start = 1) const;
  // Blocks until that many steps are in the metrics (or fails after a minute).
  void wait_for_steps(size_t steps, int generation = 1) const;

 private:
  std::filesystem::path folder_;
};

// Process ids of the workers of `driver` that live now, by rank.
std::vector<pid_t> workers_of(pid_t driver);
bool lives(pid_t pid);
// Polls until none of them lives; false after `seconds`.
bool all_gone_within(const std::vector<pid_t>& pids, int seconds);

}  // namespace lockstep::train::testing
