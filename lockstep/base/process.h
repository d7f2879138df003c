// Starting and watching other programs.
//
// A child starts with default signal handling, nothing on standard input unless it is given, and no
// open file but standard output, standard error and those named in `fds`: whatever else this program
// or a library has open stays here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/file_descriptor.h"

namespace lockstep {

// How a process ended.
struct ExitStatus {
  int code = 0;    // what it returned, when `signal` is 0
  int signal = 0;  // the signal that ended it

  bool success() const { return code == 0 && signal == 0; }
  // As a shell gives it: the code, or 128 + signal.
  int shell_code() const { return signal == 0 ? code : 128 + signal; }
  // "exit code 3" or "signal 9 (SIGKILL)".
  std::string describe() const;
};

// Where a child's output goes.
struct Output {
  enum class Kind { kInherit, kFile, kPipe, kDiscard, kWithStdout };
  Kind kind = Kind::kInherit;
  std::string path;  // of kFile

  static Output inherit() { return {}; }
  static Output file(std::string path) {
    return {Kind::kFile, std::move(path)};
  }                                                   // appended to, made if absent
  static Output pipe() { return {Kind::kPipe, {}}; }  // read from Process::stdout_pipe(), stderr_pipe()
  static Output discard() { return {Kind::kDiscard, {}}; }
  static Output with_stdout() { return {Kind::kWithStdout, {}}; }  // standard error joins standard output
};

struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0] with a slash is a path, without one is looked up in PATH
  // Changes to this program's environment; std::nullopt removes a variable.
  std::map<std::string, std::optional<std::string>> environment;
  std::map<int, int> fds;   // number in the child (3 or more) -> our descriptor, which stays ours
  int standard_input = -1;  // our descriptor, which stays ours; -1: nothing
  Output standard_output, standard_error;
  // The kernel kills the child when the *thread* that started it ends, however it ends: start
  // children from a thread that outlives them.
  bool die_with_parent = true;
  // Out of our session and process group: Ctrl-C in the terminal no longer reaches it.
  bool new_session = false;
  // Leads a process group of its own in our session: Ctrl-C in the terminal no longer reaches it, and
  // kill(-pid, ...) reaches it with all that it started.
  bool new_group = false;
};

// A running child. Destroying one that still runs kills it and waits for it.
class Process {
 public:
  // Returns once the program has replaced the child. Throws CommandError when it cannot be
  // started, naming it and why, and IoError for an output file that cannot be opened.
  // Costs no copy of our memory; signals to the calling thread wait for the start.
  static Process start(const ProcessOptions& options);

  Process(Process&& other) noexcept { *this = std::move(other); }
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }

  // How it ended, or nothing while it runs.
  std::optional<ExitStatus> poll();
  ExitStatus wait();
  std::optional<ExitStatus> wait_for(std::chrono::milliseconds timeout);
  // Nothing happens when it has ended, even if its number is in use again.
  void signal(int signal_number);

  // Becomes readable when the process has ended: for a caller's own poll(2).
  int pid_fd() const { return pid_fd_.get(); }
  // Our ends of Output::pipe(), for the caller to drain; a full pipe (64 KiB) blocks the child.
  FileDescriptor& stdout_pipe() { return stdout_pipe_; }
  FileDescriptor& stderr_pipe() { return stderr_pipe_; }

 private:
  Process() = default;
  void kill_and_reap() noexcept;

  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
  FileDescriptor pid_fd_, stdout_pipe_, stderr_pipe_;
};

// Waits until one of them has ended, or `timeout`. Returns the index of an ended one; which of
// several is not said. Call again without it for the others.
std::optional<size_t> wait_for_any(std::span<Process* const> processes, std::chrono::milliseconds timeout);

}  // namespace lockstep
