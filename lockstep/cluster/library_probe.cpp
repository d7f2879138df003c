#include "lockstep/cluster/library_probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/process.h"

namespace lockstep::cluster {
namespace {

constexpr int kOldestNetApi = 2, kNewestNetApi = 20;  // looked for; NCCL 2.30 has 12
constexpr const char* kNotThere = ": cannot open shared object file: No such file or directory";

std::string file_of(void* handle, const std::string& name) {
  Dl_info info{};
  // Any symbol of the library's own tells its file; these are those of the libraries that are asked for.
  for (const char* symbol : {"ncclGetVersion", "fi_version", "ncclNetPlugin_v6", "ncclNetPlugin_v8"}) {
    void* address = dlsym(handle, symbol);
    if (address && dladdr(address, &info) != 0 && info.dli_fname) break;
    info.dli_fname = nullptr;
  }
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname ? info.dli_fname : name, error);
  return error ? name : path.string();
}

// The child's part: everything here may crash.
Json load(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return {{"error", dlerror()}};
  Json found = {{"path", file_of(handle, name)}};
  int version = 0;
  if (auto* nccl = reinterpret_cast<int (*)(int*)>(dlsym(handle, "ncclGetVersion"));
      nccl && nccl(&version) == 0)
    found["nccl_version"] = version;
  if (auto* fabric = reinterpret_cast<unsigned (*)()>(dlsym(handle, "fi_version")))
    found["fabric_version"] = fabric();
  for (int api = kOldestNetApi; api <= kNewestNetApi; ++api) {
    if (dlsym(handle, fmt::format("ncclNetPlugin_v{}", api).c_str())) found["net_apis"].push_back(api);
  }
  return found;
}

// Reads to the end of the file or the timeout; false for the latter.
bool read_all(int fd, std::chrono::milliseconds timeout, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd readable{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) == 0) return false;
    char buffer[4096];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(buffer, static_cast<size_t>(n));
  }
}

std::string ofi_version_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  static const std::regex version("aws-ofi-nccl ([0-9]+\\.[0-9]+[.0-9]*)");
  std::smatch found;
  return std::regex_search(bytes, found, version) ? found[1].str() : "";
}

LibraryProbe parse(const std::string& text) {
  const Json json = Json::parse(text);
  LibraryProbe probe{.path = json.value("path", ""), .error = json.value("error", "")};
  if (json.contains("nccl_version")) probe.nccl_version = json["nccl_version"].get<int>();
  if (json.contains("fabric_version")) probe.fabric_version = json["fabric_version"].get<int>();
  if (json.contains("net_apis")) {
    probe.net_apis = json["net_apis"].get<std::vector<int>>();
    probe.ofi_version = ofi_version_in(probe.path);
  }
  return probe;
}

}  // namespace

LibraryProbe probe_library(const std::string& name, std::chrono::milliseconds timeout) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw_io_error("make a pipe to a child that loads", name, errno);
  const FileDescriptor reader(fds[0]);
  FileDescriptor writer(fds[1]);
  const pid_t child = ::fork();
  if (child < 0) throw_io_error("start a child that loads", name, errno);
  if (child == 0) {
    const std::string text = load(name).dump(-1, ' ', false, Json::error_handler_t::replace);
    const bool written = ::write(writer.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);  // without the library's destructors
  }
  writer.reset();
  std::string text;
  const bool ended = read_all(reader.get(), timeout, text);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return {.error = fmt::format("{} did not load within {} s", name, timeout.count() / 1000)};
  if (WIFSIGNALED(status))
    return {.error = fmt::format("{} ended the process that loaded it with {}", name,
                                 ExitStatus{.signal = WTERMSIG(status)}.describe())};
  return parse(text);
}

bool is_not_found(const std::string& name, const std::string& error) { return error == name + kNotThere; }

std::optional<std::string> missing_dependency(const std::string& name, const std::string& error) {
  if (is_not_found(name, error)) return std::nullopt;
  if (error.ends_with(kNotThere)) return error.substr(0, error.find(": "));
  // "/lib/libfabric.so.1: version `FABRIC_1.8' not found (required by /opt/libnccl-net.so)"
  static const std::regex version("^(\\S+): version [`']([^`']+)' not found");
  std::smatch found;
  if (std::regex_search(error, found, version))
    return fmt::format("version {} of {}", found[2].str(), found[1].str());
  return std::nullopt;
}

}  // namespace lockstep::cluster
