#include "lockstep/train/restart_policy.h"

#include <fmt/core.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

constexpr std::chrono::milliseconds kFirstDelay{1'000}, kLongestDelay{60'000};

}  // namespace

RestartPolicy::Decision RestartPolicy::after_failure(int exit_code, std::optional<int64_t> step,
                                                     int available_workers) {
  Decision decision;
  if (max_failures_ == 0) return decision;
  if (!worth_a_retry(exit_code)) {
    decision.reason =
        fmt::format("not started again: what ends with exit code {} would fail again", exit_code);
    return decision;
  }
  if (++failures_ > max_failures_) {
    decision.reason =
        fmt::format("not started again: failure.max_failures ({}) restarts are used up", max_failures_);
    return decision;
  }
  const bool no_progress = failed_before_ && step == last_step_;
  failed_before_ = true;
  last_step_ = step;
  // Failing twice in one place with all of them: one may be gone for good.
  if (no_progress) ++count_;
  while (count_ < worker_counts_.size() && worker_counts_[count_] > available_workers) ++count_;
  if (count_ >= worker_counts_.size()) {
    decision.reason = no_progress
                          ? fmt::format("not started again: it failed twice {} without getting further",
                                        step ? fmt::format("after step {}", *step) : "before the first step")
                          : fmt::format(
                                "not started again: there is room for {} workers only, and "
                                "scaling.num_workers asks for {} at least",
                                available_workers, worker_counts_.back());
    return decision;
  }
  decision.restart = true;
  decision.num_workers = worker_counts_[count_];
  decision.delay = std::min(kLongestDelay, kFirstDelay * (int64_t{1} << std::min<int64_t>(failures_ - 1, 6)));
  return decision;
}

}  // namespace lockstep::train
