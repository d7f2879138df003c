// Where a run's files live, as named byte strings: the little that a folder and an object store
// can both do.
//
// A key is a relative path with '/' between its parts: "metrics/g001.jsonl". No part is empty, "."
// or "..", and none ends in ".partial"; the store CHECKs this.
//
// Every failure but "not there" throws IoError with the place, the reason and the way out;
// PermanentIoError (base/io_error.h) where trying again is no use.
// All calls may come from any thread; each key has one writer at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::storage {

using Key = std::string;
using Bytes = std::vector<std::byte>;

struct ByteRange {
  int64_t offset = 0;
  int64_t length = std::numeric_limits<int64_t>::max();  // what lies past the end is left out
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Replaces the value, whole or not at all: a reader sees the old or the new one, also after a
  // crash or a power failure. Once it returns, the value is on the disk.
  virtual void put(const Key& key, std::span<const std::byte> value) = 0;

  // The bytes of `range`, or nothing when there is no such key. A range that starts at or after
  // the end is empty.
  virtual std::optional<Bytes> get(const Key& key, ByteRange range = {}) = 0;

  // The keys that start with `prefix` (not necessarily at a '/'), sorted. "" lists everything.
  virtual std::vector<Key> list(const Key& prefix) = 0;

  // Nothing happens when there is no such key. A folder that this leaves empty goes too.
  virtual void remove(const Key& key) = 0;

  // Adds to the end of the value, which begins empty: whole, or not at all. Survives the death of
  // the process at once, a power failure only after some seconds: cheap enough for every step.
  // Object stores cannot, and throw PermanentIoError.
  virtual void append(const Key& key, std::span<const std::byte> segment) = 0;

  // Removes what writers that crashed left half-written below `prefix`, which ends in '/'. Values
  // stay. A writer that is at work there meanwhile fails.
  virtual void sweep(const Key& prefix) = 0;

  // Bytes that can still be written; nothing where the store knows no limit.
  virtual std::optional<int64_t> free_bytes() { return std::nullopt; }
};

// The store at `location`: a folder, made when something is first written, or a bucket and the
// prefix of its keys, "s3://bucket/runs" or "gs://bucket/runs" (docs/storage.md). Throws ConfigError
// for a location that cannot be, IoError for a bucket that does not answer.
std::unique_ptr<ObjectStore> open_store(const std::string& location);

// Text as bytes and back; the span views `text`.
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace lockstep::storage
