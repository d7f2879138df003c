// NCCL's log of this process, in a file of our own.
//
//   NcclCapture capture(path);      // before the first call to NCCL: it reads its settings once
//   ... NCCL works ...
//   std::string log = capture.text();
//
// What the user asked to see still comes out where it would have, a quarter of a second later at most.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "lockstep/base/file_descriptor.h"
#include "lockstep/transport/nccl_debug.h"

namespace lockstep::transport {

class NcclCapture {
 public:
  // Sets NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE for this process. `path` is made new, with
  // its folder. Throws IoError. No other thread may use the environment meanwhile.
  explicit NcclCapture(const std::string& path);
  NcclCapture(const NcclCapture&) = delete;
  NcclCapture& operator=(const NcclCapture&) = delete;
  // Passes on what is left. NCCL goes on writing to the file.
  ~NcclCapture();

  const std::string& path() const { return path_; }
  // All that NCCL has written so far. Throws IoError.
  std::string text() const { return read_from(0); }

 private:
  std::string read_from(size_t offset) const;
  void pass_on();
  void follow();

  const std::string path_;
  const NcclDebug user_;
  FileDescriptor file_;  // stays the same file when somebody moves it
  FileDescriptor to_;    // where the user wants it
  size_t passed_on_ = 0;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread thread_;  // only where the user asked for something
};

}  // namespace lockstep::transport
