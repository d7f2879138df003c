// What a person sees of a run while it goes on: rank 0's metrics as one line that is rewritten in
// place on a terminal, and as a line every so often elsewhere; other events as lines of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "lockstep/base/json.h"

namespace lockstep::launch {

struct ProgressOptions {
  enum class Style {
    kLive,   // a terminal: rewrites its last line
    kLines,  // a file or pipe: at least 20 lines a run, and one for every 10 seconds
    kJson,   // every event and metrics line as it came, for programs
    kQuiet,  // nothing
  };
  Style style = Style::kLines;
  int columns = 80;                    // kLive: of longer lines the least needed is left out
  std::optional<int64_t> total_steps;  // else taken from the event `started`, field `steps`

  // kLive with its width when standard output is a terminal that can rewrite a line, else kLines.
  static ProgressOptions for_stdout();
};

class Progress {
 public:
  // `out` must outlive it; it is flushed after every line.
  Progress(ProgressOptions options, std::ostream& out) : options_(options), out_(out) {}
  ~Progress() { end_line(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One line from rank 0. One that is not a JSON object is shown as it is.
  void show(const std::string& line);
  // A line of the driver's own, for people: left out of kJson and kQuiet.
  void say(const std::string& text);
  // Leaves the live line standing, so that what others print starts a new one.
  void end_line();

 private:
  void show_metrics(const Json& metrics);
  std::string fitting_text(Json metrics, std::optional<double> seconds_left) const;
  bool is_due(int64_t step, double step_ms);
  std::optional<double> seconds_left(int64_t step) const;

  ProgressOptions options_;
  std::ostream& out_;
  bool line_open_ = false;
  int64_t num_metrics_ = 0;
  double mean_step_ms_ = 0;  // recent steps weigh more
  double ms_since_shown_ = 0;
};

}  // namespace lockstep::launch
