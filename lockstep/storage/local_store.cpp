#include "lockstep/storage/local_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>

#include "lockstep/base/check.h"
#include "lockstep/base/file_descriptor.h"
#include "lockstep/base/io_error.h"
#include "lockstep/storage/key.h"
#include "lockstep/storage/local_file.h"

namespace lockstep::storage {
namespace {

namespace fs = std::filesystem;

// A folder that is not there, or a file in its place: either way no such key.
bool not_there(int error) { return error == ENOENT || error == ENOTDIR; }

// Every file in `folder` and below, as `prefix` and its path, partial ones too. What is removed
// meanwhile is left out.
void collect(const std::string& folder, const Key& prefix, std::vector<Key>& keys) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const Key key = prefix + at->path().filename().string();
    std::error_code gone;
    if (at->is_directory(gone)) {
      collect(at->path().string(), key + "/", keys);
    } else if (at->is_regular_file(gone)) {
      keys.push_back(key);
    }
  }
  if (error && !not_there(error.value())) throw_io_error("list", folder, error.value());
}

// Only the folder itself: those above it may just be about to get another.
void remove_if_empty(const std::string& folder) { ::rmdir(folder.c_str()); }

// A file beside `path` that nobody else has: processes on other machines may count alike.
std::pair<std::string, FileDescriptor> open_partial(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  while (true) {
    std::string partial = fmt::format("{}.{}-{}{}", path, ::getpid(), count++, kPartial);
    FileDescriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file) return {std::move(partial), std::move(file)};
    if (errno != EEXIST) throw_io_error("write", path, errno);
  }
}

struct Value {
  FileDescriptor file;
  int64_t num_bytes = 0;
};

// Nothing when there is no such file.
std::optional<Value> open_value(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && not_there(errno)) return std::nullopt;
  if (!file) throw_io_error("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_io_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) return std::nullopt;
  return Value{std::move(file), status.st_size};
}

}  // namespace

std::string LocalStore::path_of(const Key& key) const {
  check_key(key);
  return fmt::format("{}/{}", root_, key);
}

void LocalStore::put(const Key& key, std::span<const std::byte> value) {
  const std::string path = path_of(key);
  make_folders(folder_of(path));
  auto [partial, file] = open_partial(path);
  try {
    write_durably(file.get(), value, path);
    if (::rename(partial.c_str(), path.c_str()) != 0) throw_io_error("write", path, errno);
  } catch (...) {
    ::unlink(partial.c_str());
    throw;
  }
  flush_folder(folder_of(path));
}

std::optional<Bytes> LocalStore::get(const Key& key, ByteRange range) {
  LOCKSTEP_CHECK(range.offset >= 0 && range.length >= 0) << range.offset << ", " << range.length;
  const std::string path = path_of(key);
  const auto value = open_value(path);
  if (!value) return std::nullopt;
  const int64_t available = std::max<int64_t>(0, value->num_bytes - range.offset);
  Bytes bytes(static_cast<size_t>(std::min(range.length, available)));
  const std::span<std::byte> part(bytes);
  // Fewer where its writer cut it back meanwhile.
  bytes.resize(static_cast<size_t>(read_parts(value->file.get(), range.offset, {&part, 1}, path)));
  return bytes;
}

std::optional<int64_t> LocalStore::get_into(const Key& key, int64_t offset, Parts parts) {
  LOCKSTEP_CHECK(offset >= 0) << offset;
  const std::string path = path_of(key);
  const auto value = open_value(path);
  if (!value) return std::nullopt;
  return read_parts(value->file.get(), offset, parts, path);
}

std::vector<Key> LocalStore::list(const Key& prefix) {
  const Key parent = folder_of_prefix(prefix);
  std::vector<Key> keys;
  collect(parent.empty() ? root_ : path_of(parent), parent.empty() ? "" : parent + "/", keys);
  std::erase_if(keys, [&](const Key& key) { return !key.starts_with(prefix) || key.ends_with(kPartial); });
  std::sort(keys.begin(), keys.end());
  return keys;
}

void LocalStore::remove(const Key& key) {
  const std::string path = path_of(key);
  if (::unlink(path.c_str()) == 0) {
    flush_folder(folder_of(path));
  } else if (!not_there(errno)) {
    throw_io_error("remove", path, errno);
  }
  remove_if_empty(folder_of(path));
}

void LocalStore::sweep(const Key& prefix) {
  LOCKSTEP_CHECK(prefix.ends_with('/')) << prefix;
  std::vector<Key> keys;
  collect(path_of(prefix.substr(0, prefix.size() - 1)), prefix, keys);
  for (const Key& key : keys) {
    if (!key.ends_with(kPartial)) continue;
    const std::string path = fmt::format("{}/{}", root_, key);
    if (::unlink(path.c_str()) != 0 && !not_there(errno)) throw_io_error("remove", path, errno);
    remove_if_empty(folder_of(path));
  }
}

void LocalStore::append(const Key& key, std::span<const std::byte> segment) {
  const std::string path = path_of(key);
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), kFlags, 0666));
  if (!file && errno == ENOENT) {
    make_folders(folder_of(path));
    file = FileDescriptor(::open(path.c_str(), kFlags, 0666));
  }
  if (!file) throw_io_error("write", path, errno);

  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  try {
    write_all(file.get(), segment, path);
  } catch (...) {
    // Half a line would garble what a later attempt appends.
    std::error_code ignored;
    if (size >= 0) fs::resize_file(path, static_cast<uintmax_t>(size), ignored);
    throw;
  }
}

std::optional<int64_t> LocalStore::free_bytes() {
  std::string folder = root_;
  struct statvfs disk {};
  while (::statvfs(folder.c_str(), &disk) != 0) {
    // Not made yet: it will be on the disk of the one above.
    if (!not_there(errno) || folder_of(folder) == folder) throw_io_error("look at", folder, errno);
    folder = folder_of(folder);
  }
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
}

}  // namespace lockstep::storage
