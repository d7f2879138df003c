#include "lockstep/launch/worker_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/io_error.h"

namespace lockstep::launch {

void begin_worker_log(const std::string& path, const std::string& heading) {
  const std::string line = heading + "\n";
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw_io_error("write the worker log", path, errno);
  }
}

std::vector<std::string> last_lines(const std::string& path, size_t max_lines) {
  constexpr std::streamoff kMaxBytes = 16 << 10;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  const std::streamoff begin = std::max<std::streamoff>(0, size - kMaxBytes);
  file.seekg(begin);

  std::vector<std::string> lines;
  std::string line;
  if (begin > 0) std::getline(file, line);  // the rest of a line that began before
  while (std::getline(file, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  }
  if (lines.size() > max_lines) lines.erase(lines.begin(), lines.end() - static_cast<long>(max_lines));
  return lines;
}

}  // namespace lockstep::launch
