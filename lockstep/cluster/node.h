// A machine, or the inside of a container, as the checks see it: everything that they look at comes through
// here, so that tests make machines up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/cuda_driver.h"
#include "lockstep/cluster/library_probe.h"

namespace lockstep::cluster {

struct ProgramOutput {
  int exit_code = 0;  // as a shell gives it
  std::string text;   // standard output and error
};

struct Node {
  std::string root;  // put before every path; empty: this machine
  std::map<std::string, std::string> environment;
  int built_for_cuda =
      0;  // version of the CUDA runtime that liblockstep_cuda.so was built with, 13000 for 13.0; 0: none

  std::string torch_folder;  // where libtorch was loaded from; empty: it was not

  // A program's output, by argv; nothing when it is not installed.
  std::function<std::optional<ProgramOutput>(const std::vector<std::string>& argv)> run;
  std::function<LibraryProbe(const std::string& name)> probe;
  std::function<CudaDriver()> cuda_driver;
  // Size in bytes of the file system that holds `path`; nothing when it is not there.
  std::function<std::optional<int64_t>(const std::string& path)> file_system_bytes;

  static Node this_machine();

  // The text of a file, without white space at its end; nothing when it cannot be read.
  std::optional<std::string> read(const std::string& path) const;
  // Names in a folder, sorted; none when there is no such folder.
  std::vector<std::string> list(const std::string& path) const;
  bool exists(const std::string& path) const;

  std::optional<std::string> env(const std::string& name) const;
  // A setting of NCCL (base/nccl_setting.h).
  std::optional<std::string> nccl_setting(const std::string& name) const;
  // Version of NVIDIA's kernel module, "580.159.03"; empty when it is not loaded.
  std::string nvidia_kernel_module() const;
};

}  // namespace lockstep::cluster
