#include "lockstep/bench/memory.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "lockstep/base/byte_size.h"
#include "lockstep/base/error.h"

namespace lockstep::bench {
namespace {

// Of the free memory; the rest is for what else runs.
constexpr double kUsable = 0.8;

std::optional<int64_t> number_in(const std::string& path) {
  int64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;  // not there, or "max"
}

}  // namespace

int64_t free_host_bytes(const std::string& root) {
  std::optional<int64_t> available;
  std::ifstream meminfo(root + "/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    int64_t kibibytes = 0;
    if (word == "MemAvailable:" && meminfo >> kibibytes) available = kibibytes * 1024;
  }
  if (!available) throw IoError("bench: /proc/meminfo does not say how much memory is available");
  const auto limit = number_in(root + "/sys/fs/cgroup/memory.max");
  const auto used = number_in(root + "/sys/fs/cgroup/memory.current");
  if (limit && used) available = std::min(*available, std::max<int64_t>(0, *limit - *used));
  return *available;
}

Memory::Memory(comm::Communicator& control, at::Device device, int local_workers)
    : control_(control), device_(device), local_workers_(local_workers) {
  if (!device.is_cpu()) return;
  control.barrier();  // all look before any takes
  host_share_ = static_cast<int64_t>(kUsable * static_cast<double>(free_host_bytes("")) / local_workers);
  control.barrier();
}

bool Memory::fits(int64_t bytes) {
  const auto misfits =
      at::full({1}, fits_here(bytes) ? 0 : 1, at::TensorOptions().dtype(at::kDouble).device(device_));
  control_.all_reduce(misfits).wait();
  return misfits.item<double>() == 0;
}

bool Memory::fits_here(int64_t bytes) const {
  if (device_.is_cpu()) return bytes <= host_share_;
  try {
    at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device_));
    return true;
  } catch (const c10::OutOfMemoryError&) {
    return false;
  }
}

std::string Memory::words() const {
  if (!device_.is_cpu()) return "a GPU does not have them free";
  return fmt::format("{} are free for each of {} workers", format_bytes(host_share_), local_workers_);
}

}  // namespace lockstep::bench
