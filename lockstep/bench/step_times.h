// The step times of a run, from its folder.
#pragma once

#include <string>
#include <vector>

namespace lockstep::bench {

// Milliseconds of each step, in order. Throws ConfigError when there is no run, and IoError.
std::vector<double> step_times_of(const std::string& run_dir);

}  // namespace lockstep::bench
