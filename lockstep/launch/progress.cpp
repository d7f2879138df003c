#include "lockstep/launch/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "lockstep/base/env_var.h"
#include "lockstep/launch/event_text.h"

namespace lockstep::launch {
namespace {

using Style = ProgressOptions::Style;

constexpr int64_t kLinesPerRun = 20;
constexpr double kLongestSilenceMs = 10'000;

}  // namespace

ProgressOptions ProgressOptions::for_stdout() {
  ProgressOptions options;
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 1 && env_var("TERM").value_or("dumb") != "dumb") {
    options.style = Style::kLive;
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.columns = size.ws_col;
  }
  return options;
}

void Progress::show(const std::string& line) {
  if (options_.style == Style::kQuiet) return;
  if (options_.style == Style::kJson) {
    out_ << line << std::endl;
    return;
  }
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return say(line);
  if (event.value("event", "") == "metrics") return show_metrics(event);
  if (event.value("event", "") == "started" && !options_.total_steps && event.contains("steps")) {
    options_.total_steps = event["steps"].get<int64_t>();
  }
  say(event_text(event));
}

void Progress::say(const std::string& text) {
  if (options_.style == Style::kJson || options_.style == Style::kQuiet) return;
  end_line();
  out_ << text << std::endl;
}

void Progress::end_line() {
  if (!line_open_) return;
  line_open_ = false;
  out_ << std::endl;
}

void Progress::show_metrics(const Json& metrics) {
  const int64_t step = metrics.value("step", int64_t{0});
  const double step_ms = metrics.value("step_ms", 0.0);
  // The first step also warms up: it does not count for the time left.
  mean_step_ms_ = ++num_metrics_ <= 2 ? step_ms : 0.9 * mean_step_ms_ + 0.1 * step_ms;
  if (!is_due(step, step_ms)) return;

  if (options_.style == Style::kLines) {
    return say(metrics_text(metrics, options_.total_steps, seconds_left(step)));
  }
  // Back to the line's start, and away with what was longer.
  out_ << '\r' << fitting_text(metrics, seconds_left(step)) << "\x1b[K" << std::flush;
  line_open_ = true;
}

std::string Progress::fitting_text(Json metrics, std::optional<double> seconds_left) const {
  // The last column stays free: some terminals go to the next line when it is written.
  const auto room = static_cast<size_t>(options_.columns - 1);
  std::string text = metrics_text(metrics, options_.total_steps, seconds_left);
  for (const char* least : {"peak_bytes", "lr", "grad_norm"}) {
    if (text.size() <= room) break;
    metrics.erase(least);
    text = metrics_text(metrics, options_.total_steps, seconds_left);
  }
  return text.substr(0, room);
}

bool Progress::is_due(int64_t step, double step_ms) {
  if (options_.style == Style::kLive) return true;
  ms_since_shown_ += step_ms;
  const int64_t every = options_.total_steps ? std::max<int64_t>(1, *options_.total_steps / kLinesPerRun) : 1;
  const bool due = num_metrics_ == 1 || step % every == 0 || step == options_.total_steps ||
                   ms_since_shown_ >= kLongestSilenceMs;
  if (due) ms_since_shown_ = 0;
  return due;
}

std::optional<double> Progress::seconds_left(int64_t step) const {
  if (!options_.total_steps || mean_step_ms_ <= 0) return std::nullopt;
  return static_cast<double>(*options_.total_steps - step) * mean_step_ms_ / 1000;
}

}  // namespace lockstep::launch
