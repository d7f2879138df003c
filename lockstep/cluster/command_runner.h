// The one way by which the cluster part starts other programs (aws, eksctl, kubectl, helm, tools for images),
// so that tests can stand in for them and a dry run can print them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cluster {

struct Command {
  std::vector<std::string> argv;           // never through a shell; secrets never here
  std::map<std::string, std::string> env;  // set besides this program's own environment
  // Its input and outputs are this program's own, a terminal perhaps: the result has none of them, and there
  // is no timeout.
  bool in_terminal = false;
  std::string input;  // the whole of standard input
  std::chrono::milliseconds timeout = std::chrono::minutes(1);
  // Given: hears standard output as it comes, and the result has none of it.
  std::function<void(std::string_view)> on_out;
};

struct CommandResult {
  int exit_code = 0;       // what a shell gives: 128 + signal when one ended it
  std::string out, err;    // until the end, or until it was stopped
  bool timed_out = false;  // it was stopped: exit_code is that of the stop
};

// As one would type it: argv with quotes where a shell needs them. Environment and input stay out of it.
std::string command_line(const Command& command);

class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  // Waits for the end. A program that fails is a result; one that cannot be started throws CommandError.
  virtual CommandResult run(const Command& command) = 0;
};

// Starts real processes.
class ProcessRunner : public CommandRunner {
 public:
  // `stop_asked` is called several times a second while a command runs. Once it says true the command gets
  // SIGINT, then SIGKILL after 10 s, and run() throws InterruptedError. (Ctrl-C in the terminal reaches this
  // program alone: whether a command is cut short is decided here.)
  explicit ProcessRunner(std::function<bool()> stop_asked = [] { return false; });
  // At the timeout it gets SIGTERM, then SIGKILL after 10 s.
  CommandResult run(const Command& command) override;

 private:
  std::function<bool()> stop_asked_;
};

// The line of a failed program's standard error that tells why: the last one that begins with "Error: ", as
// eksctl and Helm mark it, whatever they add below; the very last where there is none.
std::string failure_line(const std::string& err);

// Runs it and returns its standard output. Throws CommandError with the command line, how it ended and the
// failure_line of its standard error, unless that was with exit code 0 in time.
std::string run_or_throw(CommandRunner& runner, const Command& command);

}  // namespace lockstep::cluster
