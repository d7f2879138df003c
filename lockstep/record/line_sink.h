// Where lines of JSON go as they come: into the run's folder, and live to whoever started the run.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::record {

// Any thread may write; lines come whole and in the order of the calls.
class LineSink {
 public:
  virtual ~LineSink() = default;
  // `line` without its newline.
  virtual void write(std::string_view line) = 0;
};

// Appends to a key, whose only writer it is. Throws IoError, for example on a full disk.
class StoreLines : public LineSink {
 public:
  // `store` must outlive it.
  StoreLines(storage::ObjectStore& store, storage::Key key) : store_(store), key_(std::move(key)) {}
  void write(std::string_view line) override;

 private:
  storage::ObjectStore& store_;
  storage::Key key_;
  std::mutex mutex_;  // keeps lines in order
};

// Writes to a pipe, such as LOCKSTEP_EVENT_FD. A full pipe blocks until its reader goes on. When
// nobody reads any more, or the descriptor is no good, it says so once in the log and drops what
// follows: training goes on, and the run's folder holds every line anyway.
class PipeLines : public LineSink {
 public:
  explicit PipeLines(FileDescriptor pipe) : pipe_(std::move(pipe)) {}
  void write(std::string_view line) override;

 private:
  std::mutex mutex_;
  FileDescriptor pipe_;  // guarded by mutex_; none once it broke
};

}  // namespace lockstep::record
