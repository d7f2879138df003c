// Stands in for libnvidia-ml.so.1: one GPU at 0000:19:00 with a limit of 700 W, whose energy grows by 70 J
// from one reading to the next. FAKE_NVML_REASONS is what holds its clock.
#include <cstdlib>
#include <cstring>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  static int the_device;
  *device = &the_device;
  return std::strcmp(id, "0000:19:00.0") == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) { return *milliwatts = 700'000, 0; }
int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* mhz) { return *mhz = 1980, 0; }
int nvmlDeviceGetClockInfo(void*, unsigned, unsigned* mhz) { return *mhz = 1500, 0; }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  static unsigned long long count = 0;
  return *millijoules = 70'000 * count++, 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  const char* set = std::getenv("FAKE_NVML_REASONS");
  return *reasons = set ? std::strtoull(set, nullptr, 0) : 0, 0;
}
}
