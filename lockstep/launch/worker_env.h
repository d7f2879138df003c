// What a worker is told by whoever starts it: torchrun's environment, plus Lockstep's own
// variables when one of our launchers does (docs/worker_protocol.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace lockstep::launch {

struct WorkerEnv {
  int rank = 0, world_size = 1, local_rank = 0, local_world_size = 1;
  std::string master_addr = "127.0.0.1";
  uint16_t master_port = 0;
  std::string run_dir;  // LOCKSTEP_RUN_DIR; empty: from the recipe
  int generation = 1;   // LOCKSTEP_GENERATION
  // LOCKSTEP_CONTINUE_FROM: a run's or checkpoint's folder, "latest" or "best"; empty: the newest
  // checkpoint of the run, if there is one.
  std::string continue_from;
  std::optional<int> event_fd;  // LOCKSTEP_EVENT_FD: one JSON object a line
  std::optional<int> store_fd;  // LOCKSTEP_STORE_FD: listening socket for rank 0's store
  // LOCKSTEP_PYTHON_PACKAGES, a JSON object: name -> version, where the launcher made an environment of
  // Python packages for the run. For the record alone.
  std::map<std::string, std::string> python_packages;

  // The worker's settings when LOCKSTEP_ROLE=worker or torchrun's six variables are set,
  // else nothing. Throws ConfigError for a variable that is missing or of another form, naming it.
  static std::optional<WorkerEnv> from_environment();
  std::map<std::string, std::string> to_environment() const;
};

}  // namespace lockstep::launch
