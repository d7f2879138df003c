// Whether workers that failed are started again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::train {

class RestartPolicy {
 public:
  // `max_failures`: failure.max_failures. `worker_counts`: those that the run may have, falling; it
  // has begun with the first.
  RestartPolicy(int64_t max_failures, std::vector<int> worker_counts)
      : max_failures_(max_failures), worker_counts_(std::move(worker_counts)) {}

  struct Decision {
    bool restart = false;
    std::chrono::milliseconds delay{0};  // before it
    int num_workers = 1;                 // that it starts
    std::string reason;                  // why not; empty when restarts were never asked for
  };

  // `exit_code`: of the worker that was the cause (launch::LaunchResult). `step`: the last step that
  // was done; nothing when none was. `available_workers`: as many as the machine has room for now.
  Decision after_failure(int exit_code, std::optional<int64_t> step, int available_workers);

 private:
  const int64_t max_failures_;
  const std::vector<int> worker_counts_;
  size_t count_ = 0;  // index of the number of workers that run
  int64_t failures_ = 0;
  bool failed_before_ = false;
  std::optional<int64_t> last_step_;  // of the failure before
};

}  // namespace lockstep::train
