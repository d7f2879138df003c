#include "lockstep/base/stack_dump.h"

#include <execinfo.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace lockstep {
namespace {

constexpr int kMostFrames = 64;

void write_text(const char* text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  (void)ignored;  // nothing is left to tell it to
}

extern "C" void dump_stack(int signal) {
  // The kernel gives a process's signal to any of its threads.
  if (::gettid() != ::getpid()) {
    ::tgkill(::getpid(), ::getpid(), signal);
    return;
  }
  void* frames[kMostFrames];
  const int count = ::backtrace(frames, kMostFrames);
  write_text("lockstep: asked where this worker is; the calls of its main thread, innermost first:\n");
  ::backtrace_symbols_fd(frames, count, STDERR_FILENO);
  write_text("lockstep: end of the calls\n");
}

}  // namespace

void dump_stack_on_sigusr2() {
  // Its first call loads a library, which no signal handler may.
  void* frame = nullptr;
  ::backtrace(&frame, 1);
  struct sigaction action {};
  action.sa_handler = dump_stack;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR2, &action, nullptr);
}

}  // namespace lockstep
