#include <fmt/format.h>

#include <sstream>

#include "lockstep/base/byte_size.h"
#include "lockstep/cluster/node_checks.h"

namespace lockstep::cluster {
namespace {

constexpr int64_t kEnoughLocked = int64_t{1} << 30;  // NCCL registers buffers of some hundred MB a process
constexpr int64_t kEnoughShared = int64_t{1}
                                  << 30;  // NCCL takes some 10 MB for each pair of GPUs and channel

// The soft limit: "Max locked memory         8388608              8388608              bytes".
std::string locked_memory_limit(const Node& node) {
  std::istringstream lines(node.read("/proc/self/limits").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kName = "Max locked memory";
    std::string soft;
    if (line.starts_with(kName) && std::istringstream(line.substr(kName.size())) >> soft) return soft;
  }
  return "";
}

// A number of /proc/meminfo, in its own unit.
int64_t meminfo(const Node& node, const std::string& name) {
  std::istringstream words(node.read("/proc/meminfo").value_or(""));
  for (std::string word; words >> word;) {
    int64_t number = 0;
    if (word == name + ":" && words >> number) return number;
  }
  return 0;
}

}  // namespace

Check check_locked_memory(const Node& node, const NetworkDevices& devices) {
  Check check{
      .name = "locked memory",
      .area = CheckArea::kNetwork,
      .why =
          "EFA and InfiniBand pin the memory that they send from; a low limit fails with \"Cannot allocate "
          "memory\" (libfabric -12)"};
  const std::string limit = locked_memory_limit(node);
  const bool is_number = !limit.empty() && limit.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) {
    check.saw = limit.empty() ? "no limit is listed in /proc/self/limits" : "limit " + limit;
    if (limit != "unlimited") check.state = CheckState::kNote;
    return check;
  }
  const int64_t bytes = std::stoll(limit);
  check.saw = "limit " + format_bytes(bytes);
  if (!devices.usable()) {
    check.saw += "; no device here pins memory";
  } else if (bytes < kEnoughLocked) {
    check.state = CheckState::kFault;
    check.fix =
        "ulimit -l unlimited (memlock in /etc/security/limits.conf, LimitMEMLOCK of the container runtime's "
        "service); in "
        "Kubernetes, which has no such field, the capability IPC_LOCK";
  }
  return check;
}

Check check_shared_memory(const Node& node, const CudaDriver& driver) {
  Check check{.name = "/dev/shm",
              .why = "NCCL connects GPUs of a host through it where they do not reach each other"};
  const auto bytes = node.file_system_bytes(node.root + "/dev/shm");
  check.saw = bytes ? format_bytes(*bytes) : "there is none";
  if (driver.devices.size() < 2) {
    check.saw += "; nothing here needs it";
  } else if (!bytes || *bytes < kEnoughShared) {
    check.state = CheckState::kFault;
    check.fix = "docker run --shm-size 8g; in Kubernetes an emptyDir with medium: Memory mounted at /dev/shm";
  }
  return check;
}

Check check_huge_pages(const Node& node, const NetworkDevices& devices) {
  Check check{.name = "huge pages",
              .area = CheckArea::kNetwork,
              .why = "libfabric takes its buffers from them where there are some, from ordinary pages else"};
  const int64_t total = meminfo(node, "HugePages_Total"), free = meminfo(node, "HugePages_Free");
  check.saw = total == 0 ? "none set aside"
                         : fmt::format("{} of {} free, {} each", free, total,
                                       format_bytes(meminfo(node, "Hugepagesize") * 1024));
  if (devices.usable_efa() && total > 0 && free == 0) {
    check.state = CheckState::kNote;
    check.fix = "raise vm.nr_hugepages (EFA's installer sets 5128), or FI_EFA_USE_HUGE_PAGE=0";
  }
  return check;
}

}  // namespace lockstep::cluster
