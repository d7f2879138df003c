#include "lockstep/comm/cuda_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "lockstep/base/dynamic_library.h"
#include "lockstep/base/error.h"
#include "lockstep/base/library_folder.h"
#include "lockstep/comm/cuda_backend.h"

namespace lockstep::comm {
namespace {

constexpr const char* kDriverLibrary = "libcuda.so.1";
constexpr const char* kCudaLibrary = "liblockstep_cuda.so";

CudaBackend* registered_backend = nullptr;

std::string loader_words() {
  const char* words = dlerror();
  return words ? words : "unknown error";
}

}  // namespace

CudaBackend* cuda_backend() { return registered_backend; }
void register_cuda_backend(CudaBackend* backend) { registered_backend = backend; }

namespace internal {

int driver_device_count(const std::string& driver_library, std::string* reason) {
  std::string ignored;
  std::string& why = reason ? *reason : ignored;
  const DynamicLibrary driver(driver_library);
  if (!driver.loaded()) {
    why = fmt::format("no GPU driver: {}", driver.problem());
    return 0;
  }
  auto* init = driver.find<int(unsigned)>("cuInit");
  auto* get_count = driver.find<int(int*)>("cuDeviceGetCount");
  if (!init || !get_count) {
    why = fmt::format("{} is no CUDA driver: {}", driver_library, loader_words());
    return 0;
  }
  if (const int error = init(0); error != 0) {
    why = fmt::format("the GPU driver does not initialise: cuInit returned {}", error);
    return 0;
  }
  int count = 0;
  if (const int error = get_count(&count); error != 0) {
    why = fmt::format("the GPU driver does not count its devices: cuDeviceGetCount returned {}", error);
    return 0;
  }
  if (count == 0) why = "the GPU driver shows no device (see CUDA_VISIBLE_DEVICES)";
  return count;
}

CudaLibrary load_cuda_library(const std::string& driver_library, const std::string& cuda_library) {
  CudaLibrary result;
  const int devices = driver_device_count(driver_library, &result.reason);
  if (devices == 0) return result;
  // Global, so that libraries loaded later find torch's CUDA symbols.
  if (!dlopen(cuda_library.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    throw ConfigError(
        fmt::format("cuda: this machine has {} GPU{}, but {} does not load: {}. Install the CUDA build of "
                    "Lockstep and torch's "
                    "NVIDIA libraries, or set scaling.use_gpu: false to train on the CPU",
                    devices, devices == 1 ? "" : "s", cuda_library, loader_words()));
  }
  result.loaded = true;
  result.reason = cuda_library;
  return result;
}

}  // namespace internal

const CudaLibrary& load_cuda_library() {
  static const CudaLibrary library =
      internal::load_cuda_library(kDriverLibrary, library_folder() + "/" + kCudaLibrary);
  return library;
}

int driver_device_count(std::string* reason) { return internal::driver_device_count(kDriverLibrary, reason); }

}  // namespace lockstep::comm
