#include "lockstep/record/host.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <string_view>
#include <thread>

namespace lockstep::record {
namespace {

std::string cpu_model_of_this_machine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

int num_usable_cpus() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::thread::hardware_concurrency());  // more cores than a cpu_set_t holds
}

bool is_relevant(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"NCCL_", "FI_", "OMP_", "MKL_", "LOCKSTEP_"};
  if (name == "LOCKSTEP_PYTHON_PACKAGES") return false;  // it has a place of its own in the record
  return name == "CUDA_VISIBLE_DEVICES" || std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                                       [&](auto prefix) { return name.starts_with(prefix); });
}

bool is_secret(const std::string& name, const std::string& value) {
  static const std::regex kName("TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|(^|_)KEY", std::regex::icase);
  static const std::regex kAddress("://[^/@]*:[^/@]*@");
  return std::regex_search(name, kName) || std::regex_search(value, kAddress);
}

}  // namespace

HostFacts HostFacts::of_this_machine() {
  HostFacts host;
  utsname system{};
  if (::uname(&system) == 0) {
    host.hostname = system.nodename;
    host.kernel = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  host.cpu_model = cpu_model_of_this_machine();
  host.num_cpus = num_usable_cpus();
  host.memory_bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  return host;
}

Json HostFacts::to_json() const {
  return {{"hostname", hostname},
          {"kernel", kernel},
          {"cpu_model", cpu_model},
          {"num_cpus", num_cpus},
          {"memory_bytes", memory_bytes}};
}

std::map<std::string, std::string> relevant_environment(const char* const* environment) {
  std::map<std::string, std::string> relevant;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !is_relevant(entry.substr(0, equals))) continue;
    const std::string name(entry.substr(0, equals)), value(entry.substr(equals + 1));
    relevant[name] = is_secret(name, value) ? "(withheld)" : value;
  }
  return relevant;
}

}  // namespace lockstep::record
