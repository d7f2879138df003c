// Where rank 0's lines go: through the launcher's pipe where there is one, else to standard output.
#pragma once

#include <optional>
#include <string>

#include "lockstep/launch/worker_env.h"
#include "lockstep/record/line_sink.h"

namespace lockstep::bench {

class Output {
 public:
  // Takes over the pipe that `env` names.
  explicit Output(const launch::WorkerEnv& env);

  // `text` without its last newline; it may hold several lines. An empty one prints nothing.
  void print(const std::string& text);

 private:
  std::optional<record::PipeLines> pipe_;
};

// What a line of the pipe asks the launcher to print, with its newline.
std::string printed_text(const std::string& line);

}  // namespace lockstep::bench
