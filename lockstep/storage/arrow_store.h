// An ObjectStore over a file system of Apache Arrow: a bucket at S3 or Google.
//
// Paths have LocalStore instead: Arrow's local file system neither flushes to the disk nor replaces
// a file whole.
#pragma once

#include <arrow/filesystem/filesystem.h>

#include <memory>
#include <string>

#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

class ArrowStore : public ObjectStore {
 public:
  // Keys lie below `root`, "bucket" or "bucket/prefix"; `scheme` ("s3") is for messages. The
  // file system is safe to use from any thread.
  ArrowStore(std::shared_ptr<arrow::fs::FileSystem> files, std::string scheme, std::string root);

  // One request below 10 MiB, else parts of that size, up to eight at once (S3: at most 10 000).
  // An upload that is not finished is never seen.
  void put(const Key& key, std::span<const std::byte> value) override;
  // One request for the size and one for every 64 MiB, up to eight at once.
  std::optional<Bytes> get(const Key& key, ByteRange range = {}) override;
  // A request for every 1000 keys of the folder that holds the prefix.
  std::vector<Key> list(const Key& prefix) override;
  // S3: Arrow leaves an empty object "folder/" behind, which no list shows.
  void remove(const Key& key) override;
  // Throws PermanentIoError: object stores cannot.
  void append(const Key& key, std::span<const std::byte> segment) override;
  // Does nothing: the service holds what crashed writers left, and no list shows it. A rule of the
  // bucket removes it (docs/storage.md).
  void sweep(const Key& prefix) override;

 private:
  std::string path_of(const Key& key) const;
  std::string place_of(const Key& key) const;

  std::shared_ptr<arrow::fs::FileSystem> files_;
  std::string scheme_;
  std::string root_;
};

}  // namespace lockstep::storage
