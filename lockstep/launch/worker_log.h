// A worker's log file: its standard output and error.
#pragma once

#include <string>
#include <vector>

namespace lockstep::launch {

// Appends `heading` as a line, so that a full disk shows before anything starts. Throws IoError
// with path, reason and way out.
void begin_worker_log(const std::string& path, const std::string& heading);

// The last `max_lines` lines that say something, oldest first; reads at most the last 16 KiB.
// Empty when the file cannot be read.
std::vector<std::string> last_lines(const std::string& path, size_t max_lines);

}  // namespace lockstep::launch
