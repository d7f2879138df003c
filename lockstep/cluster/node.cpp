#include "lockstep/cluster/node.h"

#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/nccl_setting.h"
#include "lockstep/base/process.h"
#include "lockstep/base/split.h"

namespace lockstep::cluster {
namespace {

namespace fs = std::filesystem;

std::optional<ProgramOutput> run_program(const std::vector<std::string>& argv) {
  try {
    Process process = Process::start(
        {.argv = argv, .standard_output = Output::pipe(), .standard_error = Output::with_stdout()});
    ProgramOutput output;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(process.stdout_pipe().get(), buffer, sizeof buffer)) > 0;)
      output.text.append(buffer, static_cast<size_t>(n));
    output.exit_code = process.wait().shell_code();
    return output;
  } catch (const CommandError&) {
    return std::nullopt;
  }
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

// libtorch is a part of this program, but not of this folder: it is asked for without being loaded.
std::string folder_of_torch() {
  void* torch = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  std::string folder(PATH_MAX, '\0');
  const bool known = torch && dlinfo(torch, RTLD_DI_ORIGIN, folder.data()) == 0;
  if (torch) dlclose(torch);
  folder.resize(known ? std::strlen(folder.c_str()) : 0);
  return folder;
}

}  // namespace

Node Node::this_machine() {
  Node node;
  node.environment = own_environment();
  node.built_for_cuda = LOCKSTEP_CUDA_VERSION;
  node.torch_folder = folder_of_torch();
  node.run = run_program;
  node.probe = [](const std::string& name) { return probe_library(name); };
  node.cuda_driver = [] { return CudaDriver::load(); };
  node.file_system_bytes = [](const std::string& path) -> std::optional<int64_t> {
    struct statvfs info {};
    if (::statvfs(path.c_str(), &info) != 0) return std::nullopt;
    return static_cast<int64_t>(info.f_blocks * info.f_frsize);
  };
  return node;
}

std::optional<std::string> Node::read(const std::string& path) const {
  std::ifstream file(root + path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return std::nullopt;
  return trimmed(text.str());
}

std::vector<std::string> Node::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root + path, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

bool Node::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(root + path, error);
}

std::optional<std::string> Node::env(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> Node::nccl_setting(const std::string& name) const {
  return lockstep::nccl_setting(
      name, [this](const std::string& variable) { return env(variable); },
      [this](const std::string& path) { return read(path); });
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build ..."
std::string Node::nvidia_kernel_module() const {
  static const std::regex version("\\s(\\d+\\.\\d+(?:\\.\\d+)?)\\s");
  const std::string text = read("/proc/driver/nvidia/version").value_or("");
  std::smatch found;
  return std::regex_search(text, found, version) ? found[1].str() : "";
}

}  // namespace lockstep::cluster
