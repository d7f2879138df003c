#include "lockstep/train/stop_request.h"

#include <atomic>
#include <csignal>

namespace lockstep::train {
namespace {

std::atomic<int> first_signal{0};

extern "C" void remember_signal(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
}

}  // namespace

void take_over_signals() {
  static_assert(std::atomic<int>::is_always_lock_free);
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

int stop_signal() { return first_signal.load(); }

}  // namespace lockstep::train
