// The log: a line per event on standard error, for people.
//
//   log::info("loaded {} of {} tensors", done, total);
//   2026-01-02T03:04:05.678Z info    rank 3: loaded 7 of 9 tensors
//
// LOCKSTEP_LOG sets the least level shown: trace, debug, info (default), warning, error, off.
// Any thread may log; a line is written whole. Errors that end the program are thrown, not logged.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace lockstep::log {

enum class Level { kTrace, kDebug, kInfo, kWarning, kError };

// Puts "rank 3: " before every later message of this process. Once, before threads log.
void set_rank(int rank);

bool enabled(Level level);
void write(Level level, std::string_view message);

template <typename... Args>
void trace(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kTrace)) write(Level::kTrace, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kDebug)) write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kInfo)) write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kWarning)) write(Level::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kError)) write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace lockstep::log
