// An ObjectStore that tries again what failed: networks, servers and disks have bad minutes.
#pragma once

#include <memory>
#include <string>

#include "lockstep/storage/object_store.h"
#include "lockstep/storage/read_into.h"
#include "lockstep/storage/retry.h"

namespace lockstep::storage {

// Calls are repeated as retry.h says.
//
// put, get, list, remove and sweep come to the same when they are done twice, so they are repeated
// even where the failed try may have worked and only its answer was lost. append does not: it is
// passed on once.
//
// A call that hangs is not cut: it ends when the inner store says so, and policy.max_time is overrun
// by as much. Any thread may call; only the caller waits.
class RetryingStore : public ObjectStore, public DirectReads {
 public:
  explicit RetryingStore(std::unique_ptr<ObjectStore> inner, RetryPolicy policy = {},
                         RetryClock clock = RetryClock::real());

  void put(const Key& key, std::span<const std::byte> value) override;
  std::optional<Bytes> get(const Key& key, ByteRange range = {}) override;
  // As directly as the inner store can.
  std::optional<int64_t> get_into(const Key& key, int64_t offset, Parts parts) override;
  std::vector<Key> list(const Key& prefix) override;
  void remove(const Key& key) override;
  void append(const Key& key, std::span<const std::byte> segment) override;
  void sweep(const Key& prefix) override;
  std::optional<int64_t> free_bytes() override;

 private:
  std::unique_ptr<ObjectStore> inner_;
  const RetryPolicy policy_;
  const RetryClock clock_;
};

// open_store, itself repeated, behind a RetryingStore.
std::unique_ptr<ObjectStore> open_retrying_store(const std::string& location, const RetryPolicy& policy = {});

}  // namespace lockstep::storage
