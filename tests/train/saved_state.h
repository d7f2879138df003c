// What a run's checkpoints hold, read back as plain numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockstep::train::testing {

// The newest checkpoint in the run's folder: every tensor by name ("weights/...", "exp_avg/...").
std::map<std::string, std::vector<double>> newest_state(const std::string& run_dir);

// The largest difference of two such states, relative to the largest value of each tensor; infinite
// when they do not hold the same tensors.
double largest_difference(const std::map<std::string, std::vector<double>>& a,
                          const std::map<std::string, std::vector<double>>& b);

// Steps of the run's checkpoints, newest first.
std::vector<int64_t> checkpoint_steps(const std::string& run_dir);

// The hashes of the shards of the newest checkpoint: equal bits, equal hashes.
std::vector<std::string> newest_hashes(const std::string& run_dir);

}  // namespace lockstep::train::testing
