#include "made_up_node.h"

#include <filesystem>
#include <fstream>

namespace lockstep::cluster {

MadeUpNode::MadeUpNode() {
  driver.problem = "libcuda.so.1: cannot open shared object file: No such file or directory";
  node.root = root_.path();
  node.built_for_cuda = 13000;
  node.run = [this](const std::vector<std::string>& argv) -> std::optional<ProgramOutput> {
    const auto found = programs.find(argv.at(0));
    return found == programs.end() ? std::nullopt : std::optional(found->second);
  };
  node.probe = [this](const std::string& name) -> LibraryProbe {
    const auto found = libraries.find(name);
    if (found != libraries.end()) return found->second;
    return {.error = name + ": cannot open shared object file: No such file or directory"};
  };
  node.cuda_driver = [this] { return driver; };
  node.file_system_bytes = [this](const std::string&) { return shared_memory_bytes; };
  plant("/sys/class/net/eth0/address");
  plant("/sys/class/net/lo/address");
  plant("/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max locked memory         8388608              8388608              bytes\n");
  plant("/proc/meminfo",
        "MemTotal: 16 kB\nHugePages_Total:       0\nHugePages_Free:        0\nHugepagesize: 2048 kB\n");
}

void MadeUpNode::plant(const std::string& path, const std::string& text) {
  const std::filesystem::path file = root_.path() + path;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void MadeUpNode::add_efa(const std::string& name) {
  plant("/sys/class/infiniband/" + name + "/device/vendor", "0x1d0f\n");
  plant("/dev/infiniband/uverbs" + std::to_string(uverbs_++));
}

void MadeUpNode::add_gpus(int count) {
  plant("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build  (builder@host)\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
  driver.problem.clear();
  driver.library = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.03";
  driver.version = 13000;
  for (int i = 0; i < count; ++i)
    driver.devices.push_back({"NVIDIA L4", "0000:3" + std::to_string(i) + ":00", int64_t{24} << 30});
}

}  // namespace lockstep::cluster
