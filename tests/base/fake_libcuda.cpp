// Stands in for libcuda.so.1: a driver that supports CUDA 13.0 and has two devices; FAKE_LIBCUDA_INIT is what
// its cuInit returns.
#include <cstdio>
#include <cstdlib>

extern "C" {
int cuInit(unsigned) {
  const char* code = std::getenv("FAKE_LIBCUDA_INIT");
  return code ? std::atoi(code) : 0;
}
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<size_t>(length), "Test GPU %d", device);
  return 0;
}
int cuDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0", 0x19 + device);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = size_t{24} << 30, 0; }
int cuGetErrorString(int, const char** words) { return *words = "words of the driver", 0; }
}
