// Reading a value into memory that is there already, with no buffer in between where the store can.
#pragma once

#include <optional>
#include <span>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

// Where bytes of a value go: one after the other.
using Parts = std::span<const std::span<std::byte>>;

// Fills `parts` with the value's bytes from `offset` on. Returns how many there were, fewer than the parts
// hold when the value ends before; nothing when there is no such key. What is in the parts after a
// throw, or past what was returned, is undefined. Throws as ObjectStore::get.
std::optional<int64_t> read_into(ObjectStore& store, const Key& key, int64_t offset, Parts parts);

// What a store has, besides ObjectStore, that can do it better than by `get` and a copy.
class DirectReads {
 public:
  virtual ~DirectReads() = default;
  virtual std::optional<int64_t> get_into(const Key& key, int64_t offset, Parts parts) = 0;
};

}  // namespace lockstep::storage
