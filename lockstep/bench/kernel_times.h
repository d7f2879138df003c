// What the kernels of one traced step say about where its time goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::bench {

// One run of a kernel, or a copy, on a device.
struct KernelRun {
  std::string name;  // as the profiler has it
  int64_t start_ns = 0, end_ns = 0;
};

struct KernelTime {
  std::string name;  // of a class ("products"), or of a kernel
  int64_t count = 0;
  double ms = 0;
};

struct KernelTimes {
  double span_ms = 0;               // from the first kernel's start to the last one's end
  double busy_ms = 0;               // of that, with at least one kernel running
  double exposed_ms = 0;            // communication while nothing else ran
  std::vector<KernelTime> classes;  // the longest first
  std::vector<KernelTime> kernels;  // likewise, kTopKernels at most

  static constexpr size_t kTopKernels = 25;
};

// "products", "attention", "norms", "activation", "rotary", "loss", "optimizer", "gradient norm",
// "communication", "copies" or "other": by words in the kernel's name, which are cuBLAS's, cuDNN's, NCCL's,
// torch's and our own.
std::string class_of_kernel(const std::string& name);

// Runs may overlap, in any order. Times of classes and kernels are sums over their runs.
KernelTimes times_of(const std::vector<KernelRun>& runs);

std::string to_text(const KernelTimes& times);  // lines, each ending with a newline
Json to_json(const KernelTimes& times);

}  // namespace lockstep::bench
