#include "lockstep/cluster/command_runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/process.h"
#include "lockstep/base/split.h"

namespace lockstep::cluster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};  // between two looks at `stop_asked` and the clock
constexpr std::chrono::seconds kGrace{10};       // from the asking signal to SIGKILL

// The text as a file in memory: unlike a pipe nobody has to feed it while the command runs.
FileDescriptor input_file(const std::string& text) {
  FileDescriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) throw_io_error("make", "a command's input", errno);
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0) throw_io_error("write", "a command's input", errno);
    done += static_cast<size_t>(written);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Adds what there is to read now; closes the pipe at its end.
void read_some(FileDescriptor& pipe, std::string& text) {
  char buffer[16384];
  const ssize_t n = ::read(pipe.get(), buffer, sizeof buffer);
  if (n > 0) text.append(buffer, static_cast<size_t>(n));
  if (n == 0 || (n < 0 && errno != EINTR)) pipe.reset();
}

// Both outputs of a command, read as they come.
class Outputs {
 public:
  Outputs(Process& process, const Command& command, CommandResult& result)
      : process_(process), command_(command), result_(result) {}

  // Waits for output, the end of the process, or `timeout`. False when nothing came.
  bool wait(std::chrono::milliseconds timeout) {
    pollfd watched[] = {{process_.stdout_pipe().get(), POLLIN, 0},
                        {process_.stderr_pipe().get(), POLLIN, 0},
                        {process_.poll() ? -1 : process_.pid_fd(), POLLIN, 0}};
    if (::poll(watched, std::size(watched), static_cast<int>(timeout.count())) <= 0) return false;
    if (watched[0].revents != 0) read_some(process_.stdout_pipe(), result_.out);
    if (command_.on_out && !result_.out.empty()) {
      command_.on_out(result_.out);
      result_.out.clear();
    }
    if (watched[1].revents != 0) read_some(process_.stderr_pipe(), result_.err);
    return watched[0].revents != 0 || watched[1].revents != 0;
  }
  // What the pipes still hold. A program that the command left behind may keep them open: not waited for.
  void drain() {
    while (wait(std::chrono::milliseconds(0))) {
    }
  }

 private:
  Process& process_;
  const Command& command_;
  CommandResult& result_;
};

// To the command and all that it started.
void signal_group(Process& process, int signal_number) {
  if (!process.poll()) ::kill(-process.pid(), signal_number);
}

// In our own process group, so that it may read from the terminal; Ctrl-C there reaches it, too.
CommandResult run_in_terminal(const Command& command, const std::function<bool()>& stop_asked) {
  ProcessOptions options{.argv = command.argv, .standard_input = STDIN_FILENO};
  for (const auto& [name, value] : command.env) options.environment[name] = value;
  Process process = Process::start(options);
  std::optional<Clock::time_point> kill_at;
  while (!process.wait_for(kLook)) {
    if (!kill_at && stop_asked()) {
      kill_at = Clock::now() + kGrace;
      process.signal(SIGINT);
    }
    if (kill_at && Clock::now() >= *kill_at) process.signal(SIGKILL);
  }
  if (kill_at) throw InterruptedError(fmt::format("interrupted while running {}", command_line(command)));
  return {.exit_code = process.wait().shell_code()};
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-_./:=,@%+").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_line(const Command& command) {
  std::string line;
  for (const std::string& word : command.argv) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

ProcessRunner::ProcessRunner(std::function<bool()> stop_asked) : stop_asked_(std::move(stop_asked)) {}

CommandResult ProcessRunner::run(const Command& command) {
  if (command.in_terminal) return run_in_terminal(command, stop_asked_);
  const FileDescriptor input = input_file(command.input);
  ProcessOptions options{.argv = command.argv,
                         .standard_input = input.get(),
                         .standard_output = Output::pipe(),
                         .standard_error = Output::pipe(),
                         .new_group = true};
  for (const auto& [name, value] : command.env) options.environment[name] = value;
  Process process = Process::start(options);

  CommandResult result;
  Outputs outputs(process, command, result);
  const auto deadline = Clock::now() + command.timeout;
  bool interrupted = false;
  Clock::time_point kill_at = Clock::time_point::max();
  while (!process.poll()) {
    outputs.wait(kLook);
    const bool is_asked = interrupted || result.timed_out;
    if (!is_asked && stop_asked_()) {
      interrupted = true;
      signal_group(process, SIGINT);
    } else if (!is_asked && Clock::now() >= deadline) {
      result.timed_out = true;
      signal_group(process, SIGTERM);
    }
    if (!is_asked && (interrupted || result.timed_out)) kill_at = Clock::now() + kGrace;
    if (Clock::now() >= kill_at) signal_group(process, SIGKILL);
  }
  outputs.drain();
  result.exit_code = process.wait().shell_code();
  if (interrupted) throw InterruptedError(fmt::format("interrupted while running {}", command_line(command)));
  return result;
}

std::string failure_line(const std::string& err) {
  const size_t marked = ("\n" + err).rfind("\nError: ");
  return marked == err.npos ? last_line(err) : trimmed(err.substr(marked, err.find('\n', marked) - marked));
}

std::string run_or_throw(CommandRunner& runner, const Command& command) {
  CommandResult result = runner.run(command);
  if (result.exit_code == 0 && !result.timed_out) return std::move(result.out);
  const std::string said = failure_line(result.err);
  const std::string end = result.timed_out
                              ? fmt::format("took longer than {} s", command.timeout.count() / 1000)
                              : fmt::format("ended with exit code {}", result.exit_code);
  throw CommandError(fmt::format("{}: {}{}", command_line(command), end, said.empty() ? "" : ": " + said));
}

}  // namespace lockstep::cluster
