#include "lockstep/storage/local_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/io_error.h"

namespace lockstep::storage {

void write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_io_error("write", path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void write_durably(int fd, std::span<const std::byte> bytes, const std::string& path) {
  constexpr size_t kPieceBytes = 8 << 20;
  for (size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const auto piece = bytes.subspan(begin, std::min(kPieceBytes, bytes.size() - begin));
    write_all(fd, piece, path);
    // A hint to begin: what goes wrong on the disk is told by the flush.
    ::sync_file_range(fd, static_cast<off_t>(begin), static_cast<off_t>(piece.size()), SYNC_FILE_RANGE_WRITE);
  }
  flush(fd, path);
}

int64_t read_parts(int fd, int64_t offset, Parts parts, const std::string& path) {
  std::vector<iovec> left;
  for (const auto& part : parts) {
    if (!part.empty()) left.push_back({part.data(), part.size()});
  }
  int64_t done = 0;
  for (size_t next = 0; next < left.size();) {
    const auto at_once = static_cast<int>(std::min<size_t>(left.size() - next, IOV_MAX));
    const ssize_t count = ::preadv(fd, &left[next], at_once, offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_io_error("read", path, errno);
    if (count == 0) break;
    done += count;
    auto rest = static_cast<size_t>(count);
    for (; next < left.size() && rest >= left[next].iov_len; ++next) rest -= left[next].iov_len;
    if (rest > 0) {
      left[next].iov_base = static_cast<std::byte*>(left[next].iov_base) + rest;
      left[next].iov_len -= rest;
    }
  }
  return done;
}

void flush(int fd, const std::string& path) {
  int result;
  do result = ::fsync(fd);
  while (result != 0 && errno == EINTR);
  // EINVAL: special files and some network file systems have nothing to flush.
  if (result != 0 && errno != EINVAL) throw_io_error("write", path, errno);
}

void flush_folder(const std::string& folder) {
  const FileDescriptor open_folder(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open_folder) throw_io_error("open", folder, errno);
  flush(open_folder.get(), folder);
}

void make_folders(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) return flush_folder(folder_of(folder));
  const int error = errno;
  std::error_code ignored;
  if (error == EEXIST && std::filesystem::is_directory(folder, ignored)) return;
  if (error != ENOENT || folder_of(folder) == folder) throw_io_error("make folder", folder, error);
  make_folders(folder_of(folder));
  make_folders(folder);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace lockstep::storage
