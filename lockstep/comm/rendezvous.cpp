#include "lockstep/comm/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/first_line.h"
#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/gloo_communicator.h"
#include "lockstep/comm/group.h"
#include "lockstep/comm/heartbeat.h"
#include "lockstep/comm/local_communicator.h"
#include "lockstep/comm/tcp_store.h"

namespace lockstep::comm {

class InProcessStore {
 public:
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
};

std::shared_ptr<InProcessStore> make_in_process_store() { return std::make_shared<InProcessStore>(); }

struct Rendezvous::Impl {
  c10::intrusive_ptr<c10d::Store> store;
  std::unique_ptr<Heartbeat> heartbeat;
};

Rendezvous::Rendezvous(RendezvousOptions options)
    : options_(std::move(options)), impl_(std::make_unique<Impl>()) {}

Rendezvous::~Rendezvous() = default;

std::unique_ptr<Rendezvous> Rendezvous::connect(const RendezvousOptions& options) {
  std::unique_ptr<Rendezvous> rendezvous(new Rendezvous(options));
  if (options.world_size == 1) return rendezvous;
  try {
    rendezvous->impl_->store = open_tcp_store(options, options.rank == 0);
    rendezvous->impl_->heartbeat =
        std::make_unique<Heartbeat>(open_tcp_store(options, false), options.rank, rendezvous->position_);
  } catch (const std::exception& error) {
    const std::string words = first_line(error.what());
    if (words.find("EADDRINUSE") != std::string::npos) {
      throw ConfigError(fmt::format(
          "comm: rank 0 cannot listen on port {}: another program does. Set MASTER_PORT to a free port "
          "on all ranks, or end that program",
          options.port));
    }
    throw CommError(fmt::format(
        "comm: rank {} of {} cannot meet the others at {}:{}: {}. Check that rank 0 runs there and that "
        "MASTER_ADDR and MASTER_PORT are the same on all ranks",
        options.rank, options.world_size, options.host, options.port, words));
  }
  return rendezvous;
}

std::unique_ptr<Rendezvous> Rendezvous::in_process(const InProcessStore& shared, int rank, int world_size,
                                                   std::chrono::milliseconds timeout) {
  RendezvousOptions options;
  options.rank = rank;
  options.world_size = world_size;
  options.timeout = timeout;
  std::unique_ptr<Rendezvous> rendezvous(new Rendezvous(options));
  rendezvous->impl_->store = shared.store;
  return rendezvous;
}

std::unique_ptr<Communicator> Rendezvous::make_communicator(const std::string& name,
                                                            const std::vector<int>& ranks, Backend backend) {
  const auto self = std::find(ranks.begin(), ranks.end(), options_.rank);
  LOCKSTEP_CHECK(self != ranks.end()) << "rank " << options_.rank << " is not in group " << name;
  if (ranks.size() == 1) return std::make_unique<LocalCommunicator>(name);
  Group group;
  group.name = name;
  group.rank = static_cast<int>(self - ranks.begin());
  group.ranks = ranks;
  group.store =
      c10::make_intrusive<c10d::PrefixStore>(fmt::format("{}/{}", name, fmt::join(ranks, "-")), impl_->store);
  group.timeout = options_.timeout;
  group.one_host = options_.one_host;
  group.rank0_host = options_.host;
  group.position = &position_;
  group.describe_peers = [this, ranks] { return describe_peers(ranks); };
  if (backend == Backend::kGloo) return make_gloo_communicator(std::move(group));
  CudaBackend* cuda = cuda_backend();
  LOCKSTEP_CHECK(cuda) << "NCCL needs the CUDA library: call load_cuda_library first";
  return cuda->make_nccl(group);
}

void Rendezvous::post(const std::string& key, const std::string& text) {
  try {
    impl_->store->set(key, std::vector<uint8_t>(text.begin(), text.end()));
  } catch (const std::exception& error) {
    throw CommError(fmt::format("comm: rank {} cannot reach the store on rank 0: {}", options_.rank,
                                first_line(error.what())));
  }
}

std::string Rendezvous::fetch(const std::string& key, std::chrono::milliseconds timeout,
                              const std::string& what) {
  try {
    impl_->store->wait({key}, timeout);
    const std::vector<uint8_t> bytes = impl_->store->get(key);
    return {bytes.begin(), bytes.end()};
  } catch (const std::exception& error) {
    throw CommError(fmt::format("comm: rank {} waited in vain for {}: {}", options_.rank, what,
                                first_line(error.what())));
  }
}

void Rendezvous::forget(const std::string& key) { impl_->store->deleteKey(key); }

std::string Rendezvous::describe_peers(const std::vector<int>& ranks) {
  if (!impl_->heartbeat) return "";
  const int64_t own_sequence = position_.sequence;
  try {
    std::string words, waiting;
    for (const auto& peer : impl_->heartbeat->look_at(ranks)) {
      const bool is_behind = peer.sequence < own_sequence;
      if (!peer.silent && !is_behind) {
        waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", peer.rank);
        continue;
      }
      words += fmt::format(
          "{}rank {} is {} ({})", words.empty() ? "" : ", ", peer.rank,
          peer.silent ? "silent" : "alive but behind",
          peer.words.empty() ? "never heard of" : (peer.silent ? "last seen at " : "at ") + peer.words);
    }
    if (words.empty()) return "all of its processes still live";
    return waiting.empty() ? words : fmt::format("{}; also waiting: {}", words, waiting);
  } catch (const std::exception&) {
    return "rank 0 is silent (the store that it hosts does not answer)";
  }
}

std::exception_ptr peer_failure(const Group& group, const char* operation, const std::string& library_said) {
  const std::string peers = group.describe_peers ? group.describe_peers() : std::string();
  const bool waited_in_vain =
      library_said.find("imed out") != std::string::npos || library_said.find("imeout") != std::string::npos;
  const std::string where = fmt::format("{} of group {}{}{}. The library said: {}", operation, group.name,
                                        peers.empty() ? "" : ": ", peers, first_line(library_said));
  if (waited_in_vain) {
    return std::make_exception_ptr(HangError(
        fmt::format("comm: rank {} waited longer than {} s (failure.hang_timeout) in {}", group.global_rank(),
                    std::chrono::duration_cast<std::chrono::seconds>(group.timeout).count(), where)));
  }
  return std::make_exception_ptr(
      CommError(fmt::format("comm: rank {} lost a peer in {}", group.global_rank(), where)));
}

}  // namespace lockstep::comm
