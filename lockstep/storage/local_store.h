// An ObjectStore in a folder: a key is a file's path below it.
#pragma once

#include "lockstep/storage/object_store.h"
#include "lockstep/storage/read_into.h"

namespace lockstep::storage {

class LocalStore : public ObjectStore, public DirectReads {
 public:
  explicit LocalStore(std::string root) : root_(std::move(root)) {}

  // Writes "<file>.<process>-<count>.partial" beside the file, flushes it, renames it over the file
  // and flushes the folder. A crash can leave the partial file, which no reader ever sees.
  void put(const Key& key, std::span<const std::byte> value) override;
  std::optional<Bytes> get(const Key& key, ByteRange range = {}) override;
  std::optional<int64_t> get_into(const Key& key, int64_t offset, Parts parts) override;
  std::vector<Key> list(const Key& prefix) override;
  void remove(const Key& key) override;
  // One open, write and close. After a failure the file is cut back to what it was.
  void append(const Key& key, std::span<const std::byte> segment) override;
  void sweep(const Key& prefix) override;
  // Of the disk that holds the folder, or would: what others write and quotas are not counted.
  std::optional<int64_t> free_bytes() override;

 private:
  std::string path_of(const Key& key) const;

  std::string root_;
};

}  // namespace lockstep::storage
