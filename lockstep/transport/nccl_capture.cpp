#include "lockstep/transport/nccl_capture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "lockstep/base/env_var.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/log.h"
#include "lockstep/transport/host_key.h"

namespace lockstep::transport {
namespace {

constexpr std::chrono::milliseconds kInterval{250};

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

FileDescriptor open_for_user(const NcclDebug& user) {
  if (user.file.empty()) return FileDescriptor(::dup(STDOUT_FILENO));
  const std::string name = expand_file_name(user.file, host_name(), ::getpid());
  FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) throw_io_error("open for writing (NCCL_DEBUG_FILE)", name, errno);
  return file;
}

}  // namespace

NcclCapture::NcclCapture(const std::string& path)
    : path_(path), user_(nccl_debug_of([](const std::string& name) { return env_var(name); }, text_of)) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) throw_io_error("create the folder of", path, error.value());
  file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file_) throw_io_error("create", path, errno);
  const NcclDebug debug = with_evidence(user_, path);
  ::setenv("NCCL_DEBUG", debug.level.c_str(), 1);
  ::setenv("NCCL_DEBUG_SUBSYS", debug.subsystems.c_str(), 1);
  ::setenv("NCCL_DEBUG_FILE", debug.file.c_str(), 1);
  if (user_.level.empty() || user_.level == "NONE") return;
  to_ = open_for_user(user_);
  thread_ = std::thread([this] { follow(); });
}

NcclCapture::~NcclCapture() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

std::string NcclCapture::read_from(size_t offset) const {
  std::string text;
  char piece[1 << 16];
  while (true) {
    const ssize_t count = ::pread(file_.get(), piece, sizeof piece, static_cast<off_t>(offset + text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_io_error("read", path_, errno);
    if (count == 0) return text;
    text.append(piece, static_cast<size_t>(count));
  }
}

void NcclCapture::follow() {
  std::unique_lock lock(mutex_);
  while (true) {
    const bool is_last = ends_.wait_for(lock, kInterval, [this] { return is_ending_; });
    pass_on();
    if (is_last) return;
  }
}

// Whole lines only, so that one is never shown in halves that another process's output divides.
void NcclCapture::pass_on() {
  if (!to_) return;
  std::string text = read_from(passed_on_);
  text.resize(text.rfind('\n') + 1);  // nothing, where there is none
  passed_on_ += text.size();
  const std::string shown = as_asked(text, user_);
  for (size_t done = 0; done < shown.size();) {
    const ssize_t written = ::write(to_.get(), shown.data() + done, shown.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      log::warning("transport: NCCL's log cannot be passed on: {}. It is in {}", errno_words(errno), path_);
      to_.reset();
      return;
    }
    done += static_cast<size_t>(written);
  }
}

}  // namespace lockstep::transport
