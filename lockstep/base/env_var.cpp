#include "lockstep/base/env_var.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>

#include "lockstep/base/error.h"

namespace lockstep {

std::optional<std::string> env_var(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::optional<int64_t> env_int(const std::string& name, int64_t lowest, int64_t highest) {
  const auto text = env_var(name);
  if (!text) return std::nullopt;
  int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || number < lowest || number > highest) {
    throw ConfigError(fmt::format("environment: {} must be a whole number from {} to {}, got \"{}\"", name,
                                  lowest, highest, *text));
  }
  return number;
}

}  // namespace lockstep
