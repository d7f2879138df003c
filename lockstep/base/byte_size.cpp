#include "lockstep/base/byte_size.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::string_view kPrefixes = "KMGTP";

// 0 for an unknown unit.
double bytes_in(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  const std::string_view tail = unit.substr(1);
  const size_t power = unit.front() == 'k' ? 0 : kPrefixes.find(unit.front());
  if (power == kPrefixes.npos) return 0;
  if (tail == "iB") return std::pow(1024.0, power + 1);
  if (tail == "B") return std::pow(1000.0, power + 1);
  return 0;
}

}  // namespace

std::string format_bytes(int64_t bytes) {
  LOCKSTEP_CHECK(bytes >= 0) << bytes << " bytes";
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double number = static_cast<double>(bytes) / 1024;
  size_t power = 0;
  // 1023.5 would print as 1024: the next unit up says it better.
  while (number >= 1023.5 && power + 1 < kPrefixes.size()) {
    number /= 1024;
    ++power;
  }
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}iB", number, decimals, kPrefixes[power]);
}

int64_t parse_bytes(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(stop, text.data() + text.size() - stop);
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const double bytes = error == std::errc() ? number * bytes_in(unit) : 0;
  // The bound is below 2^63, so that the conversion back cannot overflow; NaN fails it too.
  const bool known = error == std::errc() && bytes_in(unit) > 0 && bytes >= 0 && bytes < 9.2e18;
  if (!known) {
    throw ConfigError(
        fmt::format("\"{}\" is no size in bytes: write a number with B, KiB, MiB, GiB, TiB, "
                    "or kB, MB, GB, TB, such as 512 MiB",
                    text));
  }
  return static_cast<int64_t>(std::llround(bytes));
}

}  // namespace lockstep
