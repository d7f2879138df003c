#include "lockstep/transport/host_key.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/env_var.h"

namespace lockstep::transport {

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string host_key() {
  if (const auto id = env_var("NCCL_HOSTID"); id && !id->empty()) return *id;
  std::string boot_id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id);
  std::error_code none;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", none);
  return fmt::format("{}/{}/{}", host_name(), boot_id, network.string());
}

}  // namespace lockstep::transport
