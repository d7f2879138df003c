#include "lockstep/base/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "lockstep/base/dynamic_library.h"

namespace lockstep {
namespace {

std::string file_of(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : path.string();
}

// The driver's word for an error code, "forward compatibility was attempted on non supported HW".
std::string words(const DynamicLibrary& driver, int error) {
  auto* get_string = driver.find<int(int, const char**)>("cuGetErrorString");
  const char* text = nullptr;
  return get_string && get_string(error, &text) == 0 && text ? fmt::format("{} ({})", error, text)
                                                             : std::to_string(error);
}

CudaDriver::Device device_at(const DynamicLibrary& driver, int ordinal) {
  CudaDriver::Device device;
  int handle = 0;
  std::array<char, 256> text{};
  size_t bytes = 0;
  auto* get = driver.find<int(int*, int)>("cuDeviceGet");
  if (!get || get(&handle, ordinal) != 0) return device;
  if (auto* name = driver.find<int(char*, int, int)>("cuDeviceGetName");
      name && name(text.data(), text.size() - 1, handle) == 0)
    device.name = text.data();
  if (auto* bus = driver.find<int(char*, int, int)>("cuDeviceGetPCIBusId");
      bus && bus(text.data(), text.size() - 1, handle) == 0) {
    const std::string id = text.data();
    device.bus_id = id.substr(0, id.rfind('.'));  // without the function, which is always 0
  }
  if (auto* memory = driver.find<int(size_t*, int)>("cuDeviceTotalMem_v2");
      memory && memory(&bytes, handle) == 0)
    device.memory_bytes = static_cast<int64_t>(bytes);
  return device;
}

}  // namespace

CudaDriver CudaDriver::load(const std::string& library) {
  CudaDriver result;
  const DynamicLibrary driver(library);
  if (!driver.loaded()) {
    result.problem = driver.problem();
    return result;
  }
  auto* init = driver.find<int(unsigned)>("cuInit");
  auto* get_count = driver.find<int(int*)>("cuDeviceGetCount");
  if (!init || !get_count) {
    result.problem = fmt::format("{} is no CUDA driver", library);
    return result;
  }
  result.library = file_of(reinterpret_cast<const void*>(init));
  int number = 0;
  if (auto* get_version = driver.find<int(int*)>("cuDriverGetVersion");
      get_version && get_version(&number) == 0)
    result.version = number;
  result.init_error = init(0);
  if (result.init_error != 0) {
    result.problem = fmt::format("cuInit returned {}", words(driver, result.init_error));
    return result;
  }
  int count = 0;
  if (const int error = get_count(&count); error != 0) {
    result.problem = fmt::format("cuDeviceGetCount returned {}", words(driver, error));
    return result;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) result.devices.push_back(device_at(driver, ordinal));
  if (count == 0) result.problem = "the driver shows no device (see CUDA_VISIBLE_DEVICES)";
  return result;
}

}  // namespace lockstep
