// A server of objects for tests: a Python script of this folder, in a process of its own, on a port of
// loopback, with everything in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/process.h"
#include "tests/base/temporary_folder.h"

namespace lockstep::storage {

class ObjectServer {
 public:
  // False where scripts/setup --s3 has not been run: tests are skipped.
  static bool is_installed();

  // Starts `script` with a bucket named "bucket", at `port` or at any, and waits until it serves. It is
  // killed with this object, and with the thread that made it.
  ObjectServer(const std::string& script, const std::vector<std::string>& options, int port = 0);

  int port() const { return port_; }
  // All that the script has printed.
  std::string output() const;
  // Waits until it has died by itself.
  void wait() { process_->wait(); }

 protected:
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  std::optional<Process> process_;
  int port_ = 0;
};

}  // namespace lockstep::storage
