// Whether a shared library loads, tried in a child process: its constructors may crash, hang or leave
// threads, and NCCL must find it as if it had never been loaded.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cluster {

struct LibraryProbe {
  std::string path;   // the file, with links followed; empty when it did not load
  std::string error;  // the loader's words, or how the child ended; empty when it loaded

  // What the library says of itself, where it has such a function.
  std::optional<int> nccl_version;    // ncclGetVersion: 22809 is 2.28.9
  std::optional<int> fabric_version;  // fi_version: major << 16 | minor
  std::vector<int> net_apis;          // N of each ncclNetPlugin_vN that it exports, rising
  std::string ofi_version;            // "1.17.2" when the file holds "aws-ofi-nccl 1.17.2"

  bool loaded() const { return error.empty(); }
};

// `name` is found as dlopen does: a path, or a name along LD_LIBRARY_PATH and ld.so's cache. Call it while
// this process has no other threads. Throws IoError when no child can be made.
LibraryProbe probe_library(const std::string& name,
                           std::chrono::milliseconds timeout = std::chrono::seconds(20));

// What dlopen's words say is missing: another library ("libfabric.so.1"), or a version of one ("version
// FABRIC_1.8 of /lib/libfabric.so.1"). Nothing when `name` itself is not there, or for other words.
std::optional<std::string> missing_dependency(const std::string& name, const std::string& error);
// Whether the words say that there is no file of that name.
bool is_not_found(const std::string& name, const std::string& error);

}  // namespace lockstep::cluster
