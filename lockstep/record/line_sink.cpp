#include "lockstep/record/line_sink.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "lockstep/base/io_error.h"
#include "lockstep/base/log.h"

namespace lockstep::record {
namespace {

// While it lives, a write of this thread to a broken pipe only fails: the program's own handling of
// SIGPIPE stays as it is.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    // The signal is pending on this thread: take it away, unless the caller blocks it and waits for it.
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0) {
      while (sigtimedwait(&sigpipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_{}, before_{};
};

// 0, or the errno of what went wrong.
int write_whole(int fd, std::string_view text) {
  const WithoutSigpipe guard;
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void StoreLines::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  store_.append(key_, storage::as_bytes(std::string(line) + '\n'));
}

void PipeLines::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!pipe_) return;
  if (const int error = write_whole(pipe_.get(), std::string(line) + '\n')) {
    log::warning("live events end here: {}; the run's folder has them all", errno_words(error));
    pipe_.reset();
  }
}

}  // namespace lockstep::record
