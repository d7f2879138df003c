#include "lockstep/launch/worker_failure.h"

#include <fmt/format.h>

#include <csignal>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep::launch {
namespace {

constexpr int kPeerLost = static_cast<int>(ExitCode::kPeerLost);

const char* likely_reason(const ExitStatus& status) {
  switch (status.signal) {
    case SIGKILL:
      return "; if nobody sent it, the machine ran out of memory: see dmesg";
    case SIGABRT:
      return "; a check in the program failed";
    case SIGBUS:
      return "; a file mapped into memory was cut, or /dev/shm is full";
    default:
      return status.code == kPeerLost ? " (lost a peer)" : "";
  }
}

}  // namespace

bool WorkerExit::failed() const {
  if (status.success()) return false;
  if (!told_to_stop) return true;
  if (status.signal != 0) {
    return status.signal != SIGINT && status.signal != SIGTERM && status.signal != SIGKILL &&
           status.signal != SIGUSR2;
  }
  return status.code != static_cast<int>(ExitCode::kPreempted) &&
         status.code != static_cast<int>(ExitCode::kInterrupted) && status.code != kPeerLost &&
         status.code != static_cast<int>(ExitCode::kHang);
}

int WorkerExit::exit_code() const { return status.signal != 0 ? kPeerLost : status.code; }

std::optional<WorkerExit> find_cause(const std::vector<WorkerExit>& exits) {
  std::optional<WorkerExit> lost_a_peer;
  for (const WorkerExit& exit : exits) {
    if (!exit.failed()) continue;
    if (exit.status.signal != 0 || exit.status.code != kPeerLost) return exit;
    if (!lost_a_peer) lost_a_peer = exit;
  }
  return lost_a_peer;
}

std::optional<std::string> WorkerFailure::own_error() const {
  constexpr std::string_view kPrefix = "lockstep: error: ";
  if (exit.status.signal != 0 || log_tail.empty() || !log_tail.back().starts_with(kPrefix))
    return std::nullopt;
  return log_tail.back().substr(kPrefix.size());
}

std::string WorkerFailure::describe() const {
  if (const auto error = own_error())
    return fmt::format("rank {}: {} (log: {})", exit.rank, *error, log_path);
  std::string text = fmt::format("rank {} (pid {}) ended with {}{}. Its log {} ends:", exit.rank, exit.pid,
                                 exit.status.describe(), likely_reason(exit.status), log_path);
  for (const std::string& line : log_tail) text += "\n  | " + line;
  return text;
}

}  // namespace lockstep::launch
