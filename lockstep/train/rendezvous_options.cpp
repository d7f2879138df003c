#include "lockstep/train/rendezvous_options.h"

namespace lockstep::train {

comm::RendezvousOptions rendezvous_options(const launch::WorkerEnv& env) {
  comm::RendezvousOptions options;
  options.rank = env.rank;
  options.world_size = env.world_size;
  options.one_host = env.local_world_size == env.world_size;
  options.host = env.master_addr;
  options.port = env.master_port;
  options.listen_fd = env.store_fd;
  return options;
}

}  // namespace lockstep::train
