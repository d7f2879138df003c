// One executable serves machines with and without GPUs: what needs CUDA is
// liblockstep_cuda.so, beside liblockstep.so, loaded where the driver works.
#pragma once

#include <string>

namespace lockstep::comm {

struct CudaLibrary {
  bool loaded = false;
  std::string reason;  // why not, or the path of the library: one line for the log
};

// Loads the library when libcuda.so.1 is there, initialises and finds a GPU. Call it first
// thing in a worker's main, before any torch call: torch remembers for good that there were
// no CUDA hooks. Further calls return the first one's answer.
// Throws ConfigError with the loader's words when there are GPUs but the library is missing
// or does not load; a program that does not want GPUs (scaling.use_gpu: false) does not call it.
const CudaLibrary& load_cuda_library();

// GPUs that the driver offers this process, by its own count: 0 when there is no driver or
// it does not initialise (`reason` says so). Needs neither torch nor the CUDA library and
// makes no CUDA context, so a launcher may ask and then start workers.
int driver_device_count(std::string* reason = nullptr);

namespace internal {
// The same with the libraries named, for tests.
int driver_device_count(const std::string& driver_library, std::string* reason);
CudaLibrary load_cuda_library(const std::string& driver_library, const std::string& cuda_library);
}  // namespace internal

}  // namespace lockstep::comm
