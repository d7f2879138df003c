// An ObjectStore that tries again what failed: networks, servers and disks have bad minutes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

struct RetryPolicy {
  std::chrono::milliseconds first_pause{200};  // doubles with every further one, up to
  std::chrono::milliseconds longest_pause{10'000};
  std::chrono::milliseconds max_time{120'000};  // from the begin of a call to its last try
};

// Where time and chance come from; tests bring their own.
struct RetryClock {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::chrono::nanoseconds)> sleep;
  std::function<double()> random;  // evenly from [0, 1); any thread

  static RetryClock real();
};

// After an IoError the call is tried again, after a pause that is cut by up to a half at random, so
// that ranks that failed together do not come back together. Each pause is logged with the reason.
// When the next try would begin later than `max_time` after the first one, the last IoError is
// thrown, with the number of tries added. What is no use to try again is thrown at once:
// PermanentIoError, and everything that is no IoError.
//
// put, get, list, remove and sweep come to the same when they are done twice, so they are repeated even
// where the failed try may have worked and only its answer was lost. append does not: it is passed
// on once.
//
// A call that hangs is not cut: it ends when the inner store says so, and max_time is overrun by as
// much. Any thread may call; only the caller waits.
class RetryingStore : public ObjectStore {
 public:
  explicit RetryingStore(std::unique_ptr<ObjectStore> inner, RetryPolicy policy = {},
                         RetryClock clock = RetryClock::real());

  void put(const Key& key, std::span<const std::byte> value) override;
  std::optional<Bytes> get(const Key& key, ByteRange range = {}) override;
  std::vector<Key> list(const Key& prefix) override;
  void remove(const Key& key) override;
  void append(const Key& key, std::span<const std::byte> segment) override;
  void sweep(const Key& prefix) override;
  std::optional<int64_t> free_bytes() override;

 private:
  template <typename Call>
  auto retry(const Call& call);

  std::unique_ptr<ObjectStore> inner_;
  const RetryPolicy policy_;
  const RetryClock clock_;
};

}  // namespace lockstep::storage
