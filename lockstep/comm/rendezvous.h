// Where the ranks of one job meet: the store on rank 0, heartbeats, and the communicators
// made from them. One per rank; it must outlive its communicators.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/position.h"

namespace lockstep::comm {

class InProcessStore;

struct RendezvousOptions {
  int rank = 0, world_size = 1;
  bool one_host = true;            // all ranks on this machine: traffic stays on loopback
  std::string host = "127.0.0.1";  // of rank 0
  uint16_t port = 0;
  std::optional<int> listen_fd;                // rank 0: a listening socket to use instead of `port`
  std::chrono::milliseconds timeout{600'000};  // the longest wait for peers, here and in every collective
};

// The store that ranks in one process meet at.
std::shared_ptr<InProcessStore> make_in_process_store();

// What carries the collectives.
enum class Backend { kGloo, kNccl };

class Rendezvous {
 public:
  // Waits until all ranks are there. Throws CommError: port in use, nobody at host:port
  // within the timeout, ...
  static std::unique_ptr<Rendezvous> connect(const RendezvousOptions& options);
  // For ranks that are threads of one process (tests): they share `store`. See run_ranks.h.
  static std::unique_ptr<Rendezvous> in_process(const InProcessStore& store, int rank, int world_size,
                                                std::chrono::milliseconds timeout);
  ~Rendezvous();

  // Collective over `ranks` (global ranks, rising, this one among them). `name` must be new.
  // kNccl uses the current CUDA device and needs the CUDA library.
  std::unique_ptr<Communicator> make_communicator(const std::string& name, const std::vector<int>& ranks,
                                                  Backend backend);

  // Words between ranks through the store: for what must work where collectives may not. A key is
  // posted once in the life of the job; at most 8 MB. Both throw CommError, fetch when nobody posts it
  // within `timeout` too, naming it as `what`.
  void post(const std::string& key, const std::string& text);
  std::string fetch(const std::string& key, std::chrono::milliseconds timeout, const std::string& what);
  // After this nobody can fetch it; its memory on rank 0 is free again.
  void forget(const std::string& key);

  int rank() const { return options_.rank; }
  int world_size() const { return options_.world_size; }
  std::chrono::milliseconds timeout() const { return options_.timeout; }
  Position& position() { return position_; }

  // "rank 2 is silent, last seen at step 4, backward, ..."; for error messages. Takes 2 s.
  std::string describe_peers(const std::vector<int>& ranks);

 private:
  explicit Rendezvous(RendezvousOptions options);
  struct Impl;
  RendezvousOptions options_;
  Position position_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::comm
