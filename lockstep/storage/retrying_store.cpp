#include "lockstep/storage/retrying_store.h"

#include <algorithm>
#include <random>
#include <thread>

#include "lockstep/base/check.h"
#include "lockstep/base/io_error.h"
#include "lockstep/base/log.h"

namespace lockstep::storage {
namespace {

using Seconds = std::chrono::duration<double>;

// Evenly from [0, 1), another row of numbers in every thread of every process.
double any_share() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

}  // namespace

RetryClock RetryClock::real() {
  return {.now = std::chrono::steady_clock::now,
          .sleep = [](std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); },
          .random = any_share};
}

RetryingStore::RetryingStore(std::unique_ptr<ObjectStore> inner, RetryPolicy policy, RetryClock clock)
    : inner_(std::move(inner)), policy_(policy), clock_(std::move(clock)) {
  LOCKSTEP_CHECK(inner_ != nullptr);
  LOCKSTEP_CHECK(policy_.first_pause.count() > 0 && policy_.longest_pause >= policy_.first_pause);
}

template <typename Call>
auto RetryingStore::retry(const Call& call) {
  const auto begin = clock_.now();
  std::chrono::nanoseconds longest = policy_.first_pause;
  for (int64_t tries = 1;; ++tries) {
    try {
      return call();
    } catch (const PermanentIoError&) {
      throw;
    } catch (const IoError& error) {
      const Seconds pause = Seconds(longest) * (1 - clock_.random() / 2);
      const Seconds elapsed = clock_.now() - begin;
      if (elapsed + pause > policy_.max_time) {
        throw IoError(
            fmt::format("{} (gave up after {} tries in {:.1f} s)", error.what(), tries, elapsed.count()));
      }
      log::warning("storage: try {} failed, the next is in {:.1f} s: {}", tries, pause.count(), error.what());
      clock_.sleep(std::chrono::duration_cast<std::chrono::nanoseconds>(pause));
      longest = std::min<std::chrono::nanoseconds>(2 * longest, policy_.longest_pause);
    }
  }
}

void RetryingStore::put(const Key& key, std::span<const std::byte> value) {
  retry([&] { inner_->put(key, value); });
}

std::optional<Bytes> RetryingStore::get(const Key& key, ByteRange range) {
  return retry([&] { return inner_->get(key, range); });
}

std::vector<Key> RetryingStore::list(const Key& prefix) {
  return retry([&] { return inner_->list(prefix); });
}

void RetryingStore::remove(const Key& key) {
  retry([&] { inner_->remove(key); });
}

void RetryingStore::append(const Key& key, std::span<const std::byte> segment) {
  inner_->append(key, segment);
}

void RetryingStore::sweep(const Key& prefix) {
  retry([&] { inner_->sweep(prefix); });
}

std::optional<int64_t> RetryingStore::free_bytes() {
  return retry([&] { return inner_->free_bytes(); });
}

}  // namespace lockstep::storage
