#include "lockstep/storage/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

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
