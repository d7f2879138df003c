#include "lockstep/transport/read_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/io_error.h"

namespace lockstep::transport {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 1 << 20;

void read_all(int fd, const std::string& name, LogEvidence& evidence) {
  const auto block = std::make_unique<char[]>(kBlockBytes);
  evidence.begin_source(name);
  for (;;) {
    const ssize_t size = ::read(fd, block.get(), kBlockBytes);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_io_error("read", name, errno);
    if (size == 0) break;
    evidence.add({block.get(), static_cast<size_t>(size)});
  }
  evidence.end_source();
}

void read_file(const std::string& path, LogEvidence& evidence) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_io_error("open", path, errno);
  read_all(file.get(), path, evidence);
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const bool is_hidden = entries->path().filename().string().starts_with('.');
    std::error_code ignored;  // a link that leads nowhere is no file
    if (is_hidden) {
      if (entries->is_directory(ignored)) entries.disable_recursion_pending();
    } else if (entries->is_regular_file(ignored)) {
      files.push_back(entries->path());
    }
  }
  if (error) throw_io_error("read", folder, error.value());
  if (files.empty()) throw ConfigError(fmt::format("{}: the folder holds no logs", folder));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

LogEvidence read_log(const std::string& path) {
  LogEvidence evidence;
  if (path == "-") {
    read_all(STDIN_FILENO, "standard input", evidence);
  } else if (std::error_code error; !fs::exists(path, error)) {
    if (error && error != std::errc::no_such_file_or_directory) throw_io_error("open", path, error.value());
    throw ConfigError(fmt::format("{}: no such file or folder", path));
  } else if (fs::is_directory(path)) {
    for (const std::string& file : files_below(path)) read_file(file, evidence);
  } else {
    read_file(path, evidence);
  }
  return evidence;
}

}  // namespace lockstep::transport
