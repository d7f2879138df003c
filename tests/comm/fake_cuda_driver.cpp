// Stands in for libcuda.so.1: what it answers is in the environment.
#include <cstdlib>

namespace {
int from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : 0;
}
}  // namespace

extern "C" int cuInit(unsigned) { return from_environment("FAKE_CUDA_INIT"); }
extern "C" int cuDeviceGetCount(int* count) {
  *count = from_environment("FAKE_CUDA_DEVICES");
  return 0;
}
