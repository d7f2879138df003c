#include "lockstep/comm/nccl_process_group.h"

#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>

#include <cstdlib>

#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

// torch's process group by default ends the process when a collective fails, after a minute
// for a dump. Ours must throw instead: clean up only (2), no monitor that ends the process, no
// dump and no wait for it. What the user has set stays.
void keep_the_process_on_errors() {
  setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2", 0);
  setenv("TORCH_NCCL_ENABLE_MONITORING", "0", 0);
  setenv("TORCH_NCCL_DUMP_ON_TIMEOUT", "0", 0);
  setenv("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "1", 0);
}

}  // namespace

c10::intrusive_ptr<c10d::ProcessGroupNCCL> connect_nccl(const Group& group) {
  keep_the_process_on_errors();
  auto options = c10d::ProcessGroupNCCL::Options::create();
  // torch filled this in with its own size of the struct.
  if (options->config.size != sizeof(ncclConfig_t)) {
    throw ConfigError(fmt::format(
        "cuda: liblockstep_cuda.so was built with the headers of NCCL {}.{}.{}, torch with another "
        "version's. "
        "Rebuild it with LOCKSTEP_NCCL_ROOT set to the NCCL that this torch names in its requirements",
        NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH));
  }
  // What waits for a collective waits on every rank: its blocks go before those of products under way.
  options->is_high_priority_stream = true;
  options->timeout = group.timeout;
  options->group_name = group.name;
  options->global_ranks_in_group.assign(group.ranks.begin(), group.ranks.end());
  group.store->setTimeout(group.timeout);
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(group.store, group.rank, group.size(), options);
  backend->eagerConnectSingleDevice(at::Device(at::kCUDA, c10::cuda::current_device()));
  return backend;
}

}  // namespace lockstep::comm
