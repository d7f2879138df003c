#include "lockstep/base/file_descriptor.h"

#include <unistd.h>

namespace lockstep {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::reset() noexcept {
  // EINTR is not retried: Linux has closed the number by then, and it may be another file's already.
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace lockstep
