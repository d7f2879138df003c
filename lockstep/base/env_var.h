// Environment variables, read with their type checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

// The variable's value; nothing when it is not set. An empty value counts as set.
std::optional<std::string> env_var(const std::string& name);

// The same as a whole number from `lowest` to `highest`. Throws ConfigError naming the
// variable, its value and the range.
std::optional<int64_t> env_int(const std::string& name, int64_t lowest, int64_t highest);

}  // namespace lockstep
