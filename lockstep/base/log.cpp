#include "lockstep/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

#include "lockstep/base/env_var.h"

namespace lockstep::log {
namespace {

constexpr const char* kPattern = "%Y-%m-%dT%H:%M:%S.%eZ %^%-7l%$ ";

void set_pattern(spdlog::logger& logger, const std::string& prefix) {
  logger.set_pattern(kPattern + prefix + "%v", spdlog::pattern_time_type::utc);
}

// Ours alone, in no registry: a program that links us keeps its own spdlog settings. Never
// destroyed, since what runs at exit may log.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("lockstep", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->flush_on(spdlog::level::trace);  // the last line before a crash is the one that is wanted
    set_pattern(*made, "");
    const std::string wanted = env_var("LOCKSTEP_LOG").value_or("info");
    const auto level = spdlog::level::from_str(wanted);  // "off" for a word that it does not know
    const bool unknown = level == spdlog::level::off && wanted != "off";
    made->set_level(unknown ? spdlog::level::info : level);
    if (unknown) {
      made->warn("LOCKSTEP_LOG is \"{}\": use trace, debug, info, warning, error or off; taking info",
                 wanted);
    }
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kTrace:
      return spdlog::level::trace;
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void set_rank(int rank) { set_pattern(logger(), fmt::format("rank {}: ", rank)); }

bool enabled(Level level) { return logger().should_log(spdlog_level(level)); }

void write(Level level, std::string_view message) {
  logger().log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace lockstep::log
