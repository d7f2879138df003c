// Time of day for records, and steady time for measuring.
#pragma once

#include <chrono>
#include <string>

namespace lockstep {

// RFC 3339 in UTC with milliseconds: "2026-01-02T03:04:05.678Z". Sorts as text.
std::string format_utc(std::chrono::system_clock::time_point time);
std::string utc_now();

// Time since construction or the last restart; unmoved by changes of the time of day.
class Stopwatch {
 public:
  void restart() { start_ = std::chrono::steady_clock::now(); }
  double seconds() const { return std::chrono::duration<double>(elapsed()).count(); }
  std::chrono::nanoseconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep
