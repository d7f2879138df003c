#include "lockstep/base/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/process_spawn.h"

namespace lockstep {
namespace {

FileDescriptor open_or_throw(const std::string& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!file) throw_io_error("open", path, errno);
  return file;
}

std::vector<std::string> candidates(const std::string& program) {
  if (program.find('/') != program.npos) return {program};
  std::vector<std::string> paths;
  const std::string path = env_var("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    paths.push_back((folder.empty() ? "." : folder) + "/" + program);  // an empty part is this folder
    begin = end + 1;
  }
  return paths;
}

std::vector<std::string> environment_with(const std::map<std::string, std::optional<std::string>>& changes) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string_view text(*line);
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) lines.emplace_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (value) lines.push_back(name + "=" + *value);
  }
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> result;
  for (std::string& line : lines) result.push_back(line.data());
  result.push_back(nullptr);
  return result;
}

// Opens what a child writes to; with a pipe, `ours` gets the reading end.
FileDescriptor open_output(const Output& output, FileDescriptor& ours) {
  switch (output.kind) {
    case Output::Kind::kFile:
      return open_or_throw(output.path, O_WRONLY | O_CREAT | O_APPEND);
    case Output::Kind::kDiscard:
      return open_or_throw("/dev/null", O_WRONLY);
    case Output::Kind::kPipe: {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) throw_io_error("make", "a pipe", errno);
      ours = FileDescriptor(ends[0]);
      return FileDescriptor(ends[1]);
    }
    case Output::Kind::kInherit:
    case Output::Kind::kWithStdout:
      return {};
  }
  return {};
}

// Copies descriptors above every number that the child wants, and lists the moves down.
class Moves {
 public:
  explicit Moves(int highest_target) : above_(highest_target + 1) {}

  void add(int fd, int target) {
    copies_.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, above_));
    if (!copies_.back()) throw_io_error("pass on", fmt::format("file descriptor {}", fd), errno);
    moves_.push_back({copies_.back().get(), target});
  }
  const std::vector<internal::SpawnPlan::Move>& moves() const { return moves_; }

 private:
  int above_;
  std::vector<FileDescriptor> copies_;
  std::vector<internal::SpawnPlan::Move> moves_;
};

ExitStatus status_from(int raw) {
  if (WIFSIGNALED(raw)) return {.signal = WTERMSIG(raw)};
  return {.code = WEXITSTATUS(raw)};
}

// Rounds up to poll's milliseconds, within its int; negative waits for ever.
int poll_timeout(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000'000));
}

}  // namespace

std::string ExitStatus::describe() const {
  if (signal == 0) return fmt::format("exit code {}", code);
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} (SIG{})", signal, name);
}

Process Process::start(const ProcessOptions& options) {
  LOCKSTEP_CHECK(!options.argv.empty());
  int highest = STDERR_FILENO;
  for (const auto& [target, fd] : options.fds) {
    LOCKSTEP_CHECK(target > STDERR_FILENO) << "descriptor " << target << " is standard input or output";
    highest = std::max(highest, target);
  }

  Process process;
  const FileDescriptor null = open_or_throw("/dev/null", O_RDONLY);
  const FileDescriptor out = open_output(options.standard_output, process.stdout_pipe_);
  const FileDescriptor err = open_output(options.standard_error, process.stderr_pipe_);
  const bool joined = options.standard_error.kind == Output::Kind::kWithStdout;
  Moves moves(highest);
  moves.add(options.standard_input >= 0 ? options.standard_input : null.get(), STDIN_FILENO);
  if (out) moves.add(out.get(), STDOUT_FILENO);
  if (err) moves.add(err.get(), STDERR_FILENO);
  if (joined) moves.add(out ? out.get() : STDOUT_FILENO, STDERR_FILENO);
  for (const auto& [target, fd] : options.fds) moves.add(fd, target);

  std::vector<std::string> argv = options.argv;
  std::vector<std::string> environment = environment_with(options.environment);
  const std::vector<std::string> paths = candidates(argv.front());
  internal::SpawnPlan plan{.argv = pointers(argv),
                           .environment = pointers(environment),
                           .moves = moves.moves(),
                           .die_with_parent = options.die_with_parent,
                           .new_session = options.new_session,
                           .new_group = options.new_group};
  for (const std::string& path : paths) plan.candidates.push_back(path.c_str());
  const pid_t pid = internal::spawn(plan);
  if (pid < 0) {
    throw CommandError(fmt::format("cannot start {}: {}; check that it is installed, in PATH and executable",
                                   options.argv.front(), errno_words(-pid)));
  }
  process.pid_ = pid;
  process.pid_fd_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  // Without one nothing could be waited for; `process` kills the child on the way out.
  if (!process.pid_fd_) throw_io_error("watch", options.argv.front(), errno);
  return process;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  kill_and_reap();
  pid_ = std::exchange(other.pid_, -1);
  status_ = other.status_;
  pid_fd_ = std::move(other.pid_fd_);
  stdout_pipe_ = std::move(other.stdout_pipe_);
  stderr_pipe_ = std::move(other.stderr_pipe_);
  return *this;
}

Process::~Process() { kill_and_reap(); }

void Process::kill_and_reap() noexcept {
  if (pid_ < 0 || status_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<ExitStatus> Process::poll() {
  if (status_) return status_;
  int raw = 0;
  const pid_t ended = ::waitpid(pid_, &raw, WNOHANG);
  LOCKSTEP_CHECK(ended >= 0) << "waiting for process " << pid_ << ": " << errno_words(errno)
                             << " (does something else in this program wait for all children?)";
  if (ended == pid_) status_ = status_from(raw);
  return status_;
}

ExitStatus Process::wait() {
  while (!status_) wait_for(std::chrono::hours(24));
  return *status_;
}

std::optional<ExitStatus> Process::wait_for(std::chrono::milliseconds timeout) {
  Process* const only[] = {this};
  wait_for_any(only, timeout);
  return status_;
}

void Process::signal(int signal_number) {
  // Until we have waited for it the number stays its own.
  if (!poll()) ::kill(pid_, signal_number);
}

std::optional<size_t> wait_for_any(std::span<Process* const> processes, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<pollfd> watched;
  for (const Process* process : processes) watched.push_back({process->pid_fd(), POLLIN, 0});
  while (true) {
    for (size_t i = 0; i < processes.size(); ++i) {
      if (processes[i]->poll()) return i;
    }
    const int ready = ::poll(watched.data(), watched.size(), poll_timeout(deadline));
    if (ready == 0 && std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    // EINTR and a ready one are seen by the next round.
  }
}

}  // namespace lockstep
