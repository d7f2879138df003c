// Trying again, with growing pauses and for a set time.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include "lockstep/base/io_error.h"
#include "lockstep/base/log.h"

namespace lockstep::storage {

struct RetryPolicy {
  std::chrono::milliseconds first_pause{200};  // doubles with every further one, up to
  std::chrono::milliseconds longest_pause{10'000};
  std::chrono::milliseconds max_time{120'000};  // from the begin of the first try to that of the last
};

// Where time and chance come from; tests bring their own.
struct RetryClock {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::chrono::nanoseconds)> sleep;
  std::function<double()> random;  // evenly from [0, 1); any thread

  static RetryClock real();
};

// Between a half and the whole of `longest`, so that ranks that failed together do not come back
// together.
inline std::chrono::nanoseconds cut_by_chance(std::chrono::nanoseconds longest, double random) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(longest * (1 - random / 2));
}

// What `call` returns. After an IoError it is called again, after a pause; each is logged with the
// reason. When the next try would begin too late, the last IoError is thrown with the number of tries
// added. What is no use to try again is thrown at once: PermanentIoError, and all that is no IoError.
template <typename Call>
auto retry(const RetryPolicy& policy, const RetryClock& clock, const Call& call) {
  const auto begin = clock.now();
  std::chrono::nanoseconds longest = policy.first_pause;
  for (int64_t tries = 1;; ++tries) {
    try {
      return call();
    } catch (const PermanentIoError&) {
      throw;
    } catch (const IoError& error) {
      using Seconds = std::chrono::duration<double>;
      const std::chrono::nanoseconds pause = cut_by_chance(longest, clock.random());
      const std::chrono::nanoseconds elapsed = clock.now() - begin;
      if (elapsed + pause > policy.max_time) {
        throw IoError(fmt::format("{} (gave up after {} tries in {:.1f} s)", error.what(), tries,
                                  Seconds(elapsed).count()));
      }
      log::warning("storage: try {} failed, the next is in {:.1f} s: {}", tries, Seconds(pause).count(),
                   error.what());
      clock.sleep(pause);
      longest = std::min<std::chrono::nanoseconds>(2 * longest, policy.longest_pause);
    }
  }
}

}  // namespace lockstep::storage
