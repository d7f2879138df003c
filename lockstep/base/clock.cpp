#include "lockstep/base/clock.h"

#include <fmt/core.h>

#include <ctime>

namespace lockstep {

std::string format_utc(std::chrono::system_clock::time_point time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(milliseconds);
  const std::time_t whole = seconds.count();
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, (milliseconds - seconds).count());
}

std::string utc_now() { return format_utc(std::chrono::system_clock::now()); }

}  // namespace lockstep
