#include "lockstep/comm/library_collectives.h"

#include <exception>
#include <numeric>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/cuda_backend.h"
#include "lockstep/comm/gloo_process_group.h"
#include "lockstep/comm/group.h"
#include "lockstep/comm/tcp_store.h"

namespace lockstep::comm {
namespace {

c10::intrusive_ptr<c10d::Store> open_store(const RendezvousOptions& options) {
  if (options.world_size == 1) return c10::make_intrusive<c10d::HashStore>();
  return c10::make_intrusive<c10d::PrefixStore>("library", open_tcp_store(options, /*serve=*/false));
}

}  // namespace

struct LibraryCollectives::Impl {
  Group group;
  c10::intrusive_ptr<c10d::Backend> backend;

  template <typename Body>
  void guarded(const char* operation, const Body& body) {
    try {
      body();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      std::rethrow_exception(peer_failure(group, operation, error.what()));
    }
  }

  // Calls that are not asynchronous run on the current stream; then NCCL gives nothing to wait for.
  template <typename Call>
  void run(const char* operation, const Call& call) {
    guarded(operation, [&] {
      if (const auto work = call()) work->wait();
    });
  }
};

LibraryCollectives::LibraryCollectives(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// After an error elsewhere a shutdown would wait for peers that may be gone.
LibraryCollectives::~LibraryCollectives() {
  try {
    if (std::uncaught_exceptions() > 0) {
      impl_->backend->abort();
    } else {
      impl_->backend->shutdown();
    }
  } catch (const std::exception&) {
    // The group is gone either way.
  }
}

std::unique_ptr<LibraryCollectives> LibraryCollectives::connect(const RendezvousOptions& options,
                                                                Backend backend) {
  auto impl = std::make_unique<Impl>();
  Group& group = impl->group;
  group.name = "library";
  group.rank = options.rank;
  group.ranks.resize(static_cast<size_t>(options.world_size));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  group.timeout = options.timeout;
  group.one_host = options.one_host;
  group.rank0_host = options.host;
  impl->guarded("connect", [&] {
    group.store = open_store(options);
    if (backend == Backend::kGloo) {
      impl->backend = connect_gloo(group);
    } else {
      LOCKSTEP_CHECK(cuda_backend()) << "NCCL needs the CUDA library: call load_cuda_library first";
      impl->backend = cuda_backend()->connect_nccl(group);
    }
  });
  return std::unique_ptr<LibraryCollectives>(new LibraryCollectives(std::move(impl)));
}

void LibraryCollectives::all_reduce(at::Tensor in_out) {
  std::vector<at::Tensor> tensors{std::move(in_out)};
  c10d::AllreduceOptions options;
  options.asyncOp = false;
  impl_->run("all_reduce", [&] { return impl_->backend->allreduce(tensors, options); });
}

void LibraryCollectives::all_gather(at::Tensor out, at::Tensor in) {
  c10d::AllgatherOptions options;
  options.asyncOp = false;
  impl_->run("all_gather", [&] { return impl_->backend->_allgather_base(out, in, options); });
}

void LibraryCollectives::reduce_scatter(at::Tensor out, at::Tensor in) {
  c10d::ReduceScatterOptions options;
  options.asyncOp = false;
  impl_->run("reduce_scatter", [&] { return impl_->backend->_reduce_scatter_base(out, in, options); });
}

}  // namespace lockstep::comm
