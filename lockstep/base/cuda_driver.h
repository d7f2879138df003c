// The GPU driver's own words on itself and its devices, by libcuda.so.1: needs neither torch nor the CUDA
// toolkit, and makes no CUDA context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct CudaDriver {
  struct Device {
    std::string name;    // "NVIDIA H200"
    std::string bus_id;  // "0000:19:00": domain, bus and device in hexadecimal
    int64_t memory_bytes = 0;
  };

  std::string library;          // the file that was loaded, with links followed; empty: there is none
  std::string problem;          // why there is no library, no device, or only some facts; empty: all is well
  std::optional<int> version;   // newest CUDA that it supports: 13000 is 13.0
  int init_error = 0;           // what cuInit returned; 0 is success
  std::vector<Device> devices;  // in the order of the visible ones (CUDA_VISIBLE_DEVICES counts)

  // Loads the library, which then stays: unloading it is not supported. Some 100 ms with GPUs.
  static CudaDriver load(const std::string& library = "libcuda.so.1");
};

}  // namespace lockstep
