#include "lockstep/cli/attend_job.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "lockstep/cluster/job_follower.h"
#include "lockstep/launch/stop_signals.h"

namespace lockstep::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSecondChance{5000};  // for the Ctrl-C that stops the job

void say(const std::string& line) { std::fprintf(stderr, "lockstep: %s\n", line.c_str()); }

class Attendant {
 public:
  Attendant(cluster::RayClient& client, const std::string& id) : client_(client), id_(id) {}

  // For JobFollowing::pause.
  bool pause(milliseconds time) {
    const auto signal = wait_for_signal(time);
    if (!signal) return false;
    signal_ = *signal;
    const std::string way_back = client_.jobs_command(fmt::format("logs {} -f", id_));
    if (*signal != SIGINT || is_stopping_) {
      say(fmt::format("left job {} alone; {} returns to it", id_, way_back));
      return true;
    }
    say(fmt::format(
        "leaving job {}, which goes on: {} returns to it, {} stops it. Ctrl-C again within {} s stops it now",
        id_, way_back, client_.jobs_command("stop " + id_), kSecondChance.count() / 1000));
    if (wait_for_signal(kSecondChance) != SIGINT) return true;
    client_.stop(id_);
    is_stopping_ = true;
    say(fmt::format("stopping job {}: it saves a checkpoint first. Ctrl-C leaves it to that", id_));
    return false;
  }

  int exit_code_of_leaving() const { return 128 + signal_; }

 private:
  std::optional<int> wait_for_signal(milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (true) {
      for (const int signal : signals_.take()) {
        if (signal != SIGTSTP) return signal;
        ::raise(SIGSTOP);
      }
      const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return std::nullopt;
      pollfd readable{signals_.poll_fd(), POLLIN, 0};
      ::poll(&readable, 1, static_cast<int>(left.count()));
    }
  }

  cluster::RayClient& client_;
  const std::string id_;
  launch::StopSignals signals_;
  bool is_stopping_ = false;
  int signal_ = 0;  // the last one
};

}  // namespace

int attend_job(cluster::RayClient& client, const std::string& id, std::ostream& log) {
  Attendant attendant(client, id);
  cluster::JobFollowing following;
  following.log = [&](std::string_view lines) { log << lines << std::flush; };
  following.note = say;
  following.pause = [&](milliseconds time) { return attendant.pause(time); };
  const auto job = cluster::follow_job(client, id, following);
  if (!job) return attendant.exit_code_of_leaving();
  const int code = job->exit_code();
  if (code != 0) {
    const bool never_ran = !job->driver_exit_code && job->status == "FAILED";
    say(fmt::format("job {}: {}{}", id, job->outcome(), never_ran ? ": " + job->message : ""));
  }
  return code;
}

}  // namespace lockstep::cli
