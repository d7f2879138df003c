// A command line, as the stand-ins for programs look at it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/cluster/command_runner.h"

namespace lockstep::cluster::eks {

using Words = std::vector<std::string>;

inline std::string option(const Words& words, const std::string& name) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}
inline bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
inline bool begins(const Words& words, const Words& with) {
  return words.size() >= with.size() && std::equal(with.begin(), with.end(), words.begin());
}
inline CommandResult printed(const Json& json) { return {.out = json.dump()}; }

}  // namespace lockstep::cluster::eks
