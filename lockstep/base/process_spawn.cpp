#include "lockstep/base/process_spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace lockstep::internal {
namespace {

// Handlers would run in the child on our memory; a mask would be inherited by the program.
void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child. Returns an errno; on success it does not return.
int become(const SpawnPlan& plan, pid_t parent) {
  if (plan.die_with_parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
    // The parent may have died before the kernel knew what to do then.
    if (::getppid() != parent) ::_exit(128 + SIGKILL);
  }
  if (plan.new_session) ::setsid();
  if (plan.new_group) ::setpgid(0, 0);
  // Whatever else is open goes when the program starts. Kernels before 5.11 lack the call; there
  // our own descriptors are close-on-exec anyway, and only careless libraries' would leak.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const auto& [from, to] : plan.moves) {
    if (::dup2(from, to) < 0) return errno;
  }
  reset_signals();
  int error = ENOENT;
  for (const char* path : plan.candidates) {
    ::execve(path, plan.argv.data(), plan.environment.data());
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
  }
  return error;
}

}  // namespace

// vfork: a fork would copy the page tables of a process that may hold hundreds of gigabytes, and
// run the fork handlers of every library with threads. The parent thread sleeps until exec.
__attribute__((noinline)) pid_t spawn(const SpawnPlan& plan) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  volatile int error = 0;
  const pid_t child = ::vfork();
  if (child == 0) {
    error = become(plan, parent);
    ::_exit(127);
  }
  if (child < 0) error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) return child;
  if (child > 0) ::waitpid(child, nullptr, 0);
  return -error;
}

}  // namespace lockstep::internal
