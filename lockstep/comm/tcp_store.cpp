#include "lockstep/comm/tcp_store.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace lockstep::comm {

c10::intrusive_ptr<c10d::Store> open_tcp_store(const RendezvousOptions& options, bool serve) {
  c10d::TCPStoreOptions tcp;
  tcp.port = options.port;
  tcp.isServer = serve;
  tcp.numWorkers = static_cast<size_t>(options.world_size);
  tcp.waitWorkers = false;  // make_communicator waits for exactly the ranks that it needs
  tcp.timeout = options.timeout;
  if (serve && options.listen_fd) tcp.masterListenFd = *options.listen_fd;
  return c10::make_intrusive<c10d::TCPStore>(options.host, tcp);
}

}  // namespace lockstep::comm
