// One training step under torch's profiler (Kineto).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/bench/kernel_times.h"

namespace lockstep::bench {

// Runs `step`, which must leave an idle device behind, and writes what ran when to `path` as a Chrome trace
// (chrome://tracing and Perfetto read it). Returns what ran on GPUs; nothing on the CPU. What is traced is a
// little slower than it was. One at a time in a process. Throws IoError where `path` cannot be written.
std::vector<KernelRun> trace_step(const std::string& path, const std::function<void()>& step);

}  // namespace lockstep::bench
