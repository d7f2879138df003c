#include "lockstep/cluster/job_words.h"

#include <string_view>

#include "lockstep/base/split.h"

namespace lockstep::cluster {

std::string last_words(const std::string& log) {
  constexpr std::string_view kError = "lockstep: error: ";
  std::string last = "it said nothing", error;
  for (const std::string& line : split(log, '\n')) {
    if (line.starts_with(kError)) error = line.substr(kError.size());
    if (!trimmed(line).empty()) last = line;
  }
  return error.empty() ? last : error;
}

}  // namespace lockstep::cluster
