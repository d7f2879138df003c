#include "lockstep/launch/stop_signals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <atomic>
#include <cerrno>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"

namespace lockstep::launch {
namespace {

std::atomic<int> writer_fd{-1};  // for the handler, which gets no argument of ours

void on_signal(int signal) {
  const int saved_errno = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe holds thousands of signals already: one more adds nothing.
  [[maybe_unused]] const auto written = ::write(writer_fd, &byte, 1);
  errno = saved_errno;
}

}  // namespace

StopSignals::StopSignals() {
  LOCKSTEP_CHECK(writer_fd == -1) << "another StopSignals is alive";
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw CommandError(fmt::format("launch: cannot make a pipe for signals: {}", errno_words(errno)));
  }
  reader_ = FileDescriptor(fds[0]);
  writer_ = FileDescriptor(fds[1]);
  writer_fd = writer_.get();

  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
    struct sigaction former {};
    ::sigaction(signal, nullptr, &former);
    if (signal == SIGHUP && former.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
    former_[signal] = former;
  }
}

StopSignals::~StopSignals() {
  for (const auto& [signal, former] : former_) ::sigaction(signal, &former, nullptr);
  writer_fd = -1;
}

std::vector<int> StopSignals::take() {
  std::vector<int> signals;
  unsigned char byte;
  while (::read(reader_.get(), &byte, 1) == 1) signals.push_back(byte);
  return signals;
}

std::optional<int> wait_for_stop_signal(std::chrono::milliseconds timeout) {
  StopSignals signals;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd readable{signals.poll_fd(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(left.count()));
    for (const int signal : signals.take()) {
      if (signal != SIGTSTP) return signal;
      ::raise(SIGSTOP);
    }
  }
}

}  // namespace lockstep::launch
