#include "lockstep/launch/line_reader.h"

#include <unistd.h>

#include <cerrno>

namespace lockstep::launch {

bool LineReader::read(int fd, const std::function<void(const std::string&)>& on_line) {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    partial_.append(buffer, static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (end > begin) on_line(partial_.substr(begin, end - begin));
    }
    partial_.erase(0, begin);
  }
}

}  // namespace lockstep::launch
