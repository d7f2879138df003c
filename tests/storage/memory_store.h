// An ObjectStore in memory: what tests write to where no process dies.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

class MemoryStore : public ObjectStore {
 public:
  void put(const Key& key, std::span<const std::byte> value) override {
    const std::lock_guard lock(mutex_);
    values_[key].assign(value.begin(), value.end());
  }

  std::optional<Bytes> get(const Key& key, ByteRange range = {}) override {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    const auto size = static_cast<int64_t>(found->second.size());
    const int64_t begin = std::min(range.offset, size);
    const int64_t length = std::min(range.length, size - begin);
    return Bytes(found->second.begin() + begin, found->second.begin() + begin + length);
  }

  std::vector<Key> list(const Key& prefix) override {
    const std::lock_guard lock(mutex_);
    std::vector<Key> keys;
    for (auto at = values_.lower_bound(prefix); at != values_.end() && at->first.starts_with(prefix); ++at) {
      keys.push_back(at->first);
    }
    return keys;
  }

  void remove(const Key& key) override {
    const std::lock_guard lock(mutex_);
    values_.erase(key);
  }

  void append(const Key& key, std::span<const std::byte> segment) override {
    const std::lock_guard lock(mutex_);
    Bytes& value = values_[key];
    value.insert(value.end(), segment.begin(), segment.end());
  }

  void sweep(const Key&) override {}  // no value is ever half-written

 private:
  std::mutex mutex_;
  std::map<Key, Bytes> values_;
};

}  // namespace lockstep::storage
