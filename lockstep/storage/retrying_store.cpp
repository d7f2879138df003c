#include "lockstep/storage/retrying_store.h"

#include "lockstep/base/check.h"

namespace lockstep::storage {

RetryingStore::RetryingStore(std::unique_ptr<ObjectStore> inner, RetryPolicy policy, RetryClock clock)
    : inner_(std::move(inner)), policy_(policy), clock_(std::move(clock)) {
  LOCKSTEP_CHECK(inner_ != nullptr);
  LOCKSTEP_CHECK(policy_.first_pause.count() > 0 && policy_.longest_pause >= policy_.first_pause);
}

void RetryingStore::put(const Key& key, std::span<const std::byte> value) {
  retry(policy_, clock_, [&] { inner_->put(key, value); });
}

std::optional<Bytes> RetryingStore::get(const Key& key, ByteRange range) {
  return retry(policy_, clock_, [&] { return inner_->get(key, range); });
}

std::optional<int64_t> RetryingStore::get_into(const Key& key, int64_t offset, Parts parts) {
  return retry(policy_, clock_, [&] { return read_into(*inner_, key, offset, parts); });
}

std::vector<Key> RetryingStore::list(const Key& prefix) {
  return retry(policy_, clock_, [&] { return inner_->list(prefix); });
}

void RetryingStore::remove(const Key& key) {
  retry(policy_, clock_, [&] { inner_->remove(key); });
}

void RetryingStore::append(const Key& key, std::span<const std::byte> segment) {
  inner_->append(key, segment);
}

void RetryingStore::sweep(const Key& prefix) {
  retry(policy_, clock_, [&] { inner_->sweep(prefix); });
}

std::optional<int64_t> RetryingStore::free_bytes() {
  return retry(policy_, clock_, [&] { return inner_->free_bytes(); });
}

std::unique_ptr<ObjectStore> open_retrying_store(const std::string& location, const RetryPolicy& policy) {
  const RetryClock clock = RetryClock::real();
  return std::make_unique<RetryingStore>(retry(policy, clock, [&] { return open_store(location); }), policy,
                                         clock);
}

}  // namespace lockstep::storage
