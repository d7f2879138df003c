#include "lockstep/launch/local_launcher.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/launch/line_reader.h"
#include "lockstep/launch/stop_signals.h"
#include "lockstep/launch/worker_group.h"
#include "lockstep/launch/worker_log.h"

namespace lockstep::launch {
namespace {

using Clock = std::chrono::steady_clock;

// One that reports a lost peer often ends before that peer does: so long do we wait for the
// real cause before telling the others to stop.
constexpr std::chrono::milliseconds kCauseSettles{1'000};
constexpr size_t kLogTailLines = 10;

class Watch {
 public:
  explicit Watch(const LaunchOptions& options) : options_(options), group_(options) {}

  LaunchResult run() {
    while (group_.num_running() > 0) {
      wait();
      for (const int signal : signals_.take()) handle(signal);
      read_events();
      handle_exits();
      keep_deadlines();
    }
    read_events();  // the last ones, written before the end
    return result();
  }

 private:
  // Until something happened or a deadline is due.
  void wait() {
    std::vector<pollfd> fds = {{signals_.poll_fd(), POLLIN, 0}};
    if (events_open_) fds.push_back({group_.event_fd(), POLLIN, 0});
    for (const int fd : group_.exit_fds()) fds.push_back({fd, POLLIN, 0});

    int timeout_ms = -1;
    for (const auto& deadline : {terminate_at_, kill_at_}) {
      if (!deadline) continue;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      const int left_ms = static_cast<int>(std::max<int64_t>(0, left));
      timeout_ms = timeout_ms < 0 ? left_ms : std::min(timeout_ms, left_ms);
    }
    ::poll(fds.data(), fds.size(), timeout_ms);  // an interrupted call comes around again
  }

  void handle(int signal) {
    if (signal == SIGTSTP) return pause();
    if (signal == SIGINT && stop_signal_ == SIGINT) {
      notice("killing the workers");
      return group_.stop(SIGKILL);
    }
    if (stop_signal_ && signal != SIGINT) return;  // a repeated SIGTERM must not cut the last save short
    stop_signal_ = signal;
    group_.stop(signal == SIGINT ? SIGINT : SIGTERM);
    terminate_at_.reset();
    kill_no_later_than(Clock::now() + options_.stop_grace);
    notice(fmt::format("stopping {} workers{}", group_.num_running(),
                       signal == SIGINT ? "; Ctrl-C again kills them" : ""));
  }

  void pause() {
    group_.send(SIGSTOP);
    ::raise(SIGSTOP);
    group_.send(SIGCONT);
  }

  void read_events() {
    if (!events_open_) return;
    events_open_ = lines_.read(group_.event_fd(), [&](const std::string& line) {
      if (options_.on_event) options_.on_event(line);
    });
  }

  void handle_exits() {
    for (const WorkerExit& exit : group_.reap()) {
      if (exit.failed()) begin_failure(exit);
    }
  }

  void begin_failure(const WorkerExit& exit) {
    const bool lost_a_peer =
        exit.exit_code() == static_cast<int>(ExitCode::kPeerLost) && exit.status.signal == 0;
    const bool waited_in_vain = exit.exit_code() == static_cast<int>(ExitCode::kHang);
    if (waited_in_vain && !std::exchange(asked_for_stacks_, true)) ask_for_stacks();
    const auto terminate =
        Clock::now() + (lost_a_peer || waited_in_vain ? kCauseSettles : std::chrono::milliseconds(0));
    if (!told_to_terminate_ && (!terminate_at_ || terminate < *terminate_at_)) terminate_at_ = terminate;
    kill_no_later_than(terminate + options_.failure_grace);
  }

  // A worker that hangs may be stopped (SIGSTOP, a debugger): it answers once it goes on.
  void ask_for_stacks() {
    if (group_.num_running() == 0) return;
    notice(fmt::format(
        "a worker waited in vain for another: asking the {} that still run where they are; the calls "
        "are in their logs",
        group_.num_running()));
    group_.stop(SIGUSR2);
    group_.send(SIGCONT);
  }

  void kill_no_later_than(Clock::time_point deadline) {
    kill_at_ = kill_at_ ? std::min(*kill_at_, deadline) : deadline;
  }

  void keep_deadlines() {
    const auto now = Clock::now();
    if (terminate_at_ && *terminate_at_ <= now) {
      terminate_at_.reset();
      told_to_terminate_ = true;
      group_.stop(SIGTERM);
    }
    if (kill_at_ && *kill_at_ <= now) {
      kill_at_.reset();
      if (group_.num_running() > 0)
        notice(fmt::format("killing {} workers that did not stop", group_.num_running()));
      group_.stop(SIGKILL);
    }
  }

  LaunchResult result() const {
    LaunchResult result;
    result.stop_signal = stop_signal_;
    if (const auto cause = find_cause(group_.exits())) {
      const std::string& log = options_.log_paths[cause->rank];
      result.failure = WorkerFailure{*cause, log, last_lines(log, kLogTailLines)};
      result.exit_code = cause->exit_code();
    }
    if (stop_signal_) {
      result.exit_code =
          static_cast<int>(*stop_signal_ == SIGINT ? ExitCode::kInterrupted : ExitCode::kPreempted);
    }
    return result;
  }

  void notice(const std::string& message) const {
    if (options_.on_notice) options_.on_notice(message);
  }

  const LaunchOptions& options_;
  StopSignals signals_;  // before the workers start: a Ctrl-C in between is not lost
  WorkerGroup group_;
  LineReader lines_;
  bool events_open_ = true;
  bool told_to_terminate_ = false, asked_for_stacks_ = false;
  std::optional<int> stop_signal_;
  std::optional<Clock::time_point> terminate_at_, kill_at_;
};

}  // namespace

LaunchResult run_workers(const LaunchOptions& options) { return Watch(options).run(); }

std::string own_executable() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace lockstep::launch
