#include "lockstep/comm/nccl_communicator.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <vector>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/comm/nccl_process_group.h"
#include "lockstep/comm/ordered_sum_cuda.h"
#include "lockstep/comm/peer_memory.h"

namespace lockstep::comm {
namespace {

// Below this an all-reduce gathers all values and adds them up: one exchange instead of two.
constexpr int64_t kSmallBytes = 64 << 10;

const char* words(c10d::ErrorType error) {
  switch (error) {
    case c10d::ErrorType::SUCCESS:
      return "no error";
    case c10d::ErrorType::TIMEOUT:
      return "NCCL: a collective did not end within the timeout";
    case c10d::ErrorType::COMM_ERROR:
      return "NCCL: a collective failed";
    case c10d::ErrorType::REMOTE_ERROR:
      return "NCCL: a collective failed on another rank";
  }
  return "NCCL: unknown error";
}

// The process group and whether it still works; shared with the operations under way.
class Connection {
 public:
  explicit Connection(Group group) : group_(std::move(group)) {
    guarded("connect", [&] { backend_ = connect_nccl(group_); });
  }

  // A broken group is aborted: shutting it down would wait for its peers. So is one that is
  // given up because of an error elsewhere.
  ~Connection() {
    if (!backend_) return;
    try {
      if (!broken_ && std::uncaught_exceptions() == 0 && backend_->getError() == c10d::ErrorType::SUCCESS) {
        backend_->shutdown();
      } else {
        backend_->abort();
      }
    } catch (const std::exception&) {
      // The group is gone either way.
    }
  }

  c10d::ProcessGroupNCCL& backend() { return *backend_; }
  const Group& group() const { return group_; }

  // Runs `body`; what goes wrong, now or in an earlier collective, becomes a CommError, for good.
  template <typename Body>
  void guarded(const char* operation, const Body& body) {
    throw_if_broken(operation);
    try {
      body();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      broken_ = peer_failure(group_, operation, error.what());
      std::rethrow_exception(broken_);
    }
    throw_if_broken(operation);
  }

 private:
  void throw_if_broken(const char* operation) {
    if (!broken_ && backend_) {
      const auto error = backend_->getError();
      if (error != c10d::ErrorType::SUCCESS) broken_ = peer_failure(group_, operation, words(error));
    }
    if (broken_) std::rethrow_exception(broken_);
  }

  const Group group_;
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> backend_;
  std::exception_ptr broken_;  // what every further call throws
};

// An operation whose last part was put on a stream: whoever waits, waits for `done`. Holds the
// caller's tensors until then, so that torch's allocator does not give their memory away.
class StreamWork : public Work::State {
 public:
  StreamWork(std::shared_ptr<Connection> connection, const char* operation,
             const c10::cuda::CUDAStream& stream, std::vector<at::Tensor> in_use)
      : connection_(std::move(connection)), operation_(operation), in_use_(std::move(in_use)) {
    done_.record(stream);
  }
  ~StreamWork() override {
    if (waited_) return;
    try {
      done_.block(c10::cuda::getCurrentCUDAStream());
    } catch (const std::exception&) {
      // The device has failed; the next call on it says so.
    }
  }
  void wait() override {
    waited_ = true;
    connection_->guarded(operation_, [&] { done_.block(c10::cuda::getCurrentCUDAStream()); });
    in_use_.clear();
  }

 private:
  std::shared_ptr<Connection> connection_;
  const char* operation_;
  std::vector<at::Tensor> in_use_;
  at::cuda::CUDAEvent done_;
  bool waited_ = false;
};

class NcclCommunicator : public Communicator {
 public:
  explicit NcclCommunicator(Group group)
      : Communicator(group.name, group.rank, group.size()),
        connection_(std::make_shared<Connection>(std::move(group))),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true)) {}

  Work all_gather(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(out.numel() == size() * in.numel() && out.dtype() == in.dtype());
    count_sent((size() - 1) * static_cast<int64_t>(in.nbytes()));
    return start("all_gather", {out, in}, [&] { gather(out, in); });
  }

  bool share(const std::vector<at::Tensor>& tensors) override {
    std::string why = "its ranks are on several hosts";
    if (connection_->group().one_host) peers_ = PeerMemory::map(*this, tensors, why);
    if (!peers_)
      log::info("{} gathers by NCCL's kernels, not by copies from the other GPUs: {}", name(), why);
    return peers_ != nullptr;
  }

  Work gather_shared(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(out.numel() == size() * in.numel() && out.dtype() == in.dtype());
    LOCKSTEP_CHECK(peers_) << "nothing is shared";
    const auto& places = peers_->places(in.const_data_ptr());
    LOCKSTEP_CHECK(!places.empty()) << "not shared: " << in.toString() << " " << in.sizes();
    count_sent((size() - 1) * static_cast<int64_t>(in.nbytes()));
    return start("all_gather", {out, in}, [&] {
      auto* const begin = static_cast<char*>(out.mutable_data_ptr());
      for (int i = 0; i < size(); ++i) {
        const int from = (rank() + i) % size();  // each rank from another one at a time
        C10_CUDA_CHECK(cudaMemcpyAsync(begin + static_cast<size_t>(from) * in.nbytes(),
                                       places[static_cast<size_t>(from)], in.nbytes(), cudaMemcpyDefault,
                                       stream_));
      }
    });
  }

  Work publish() override {
    const auto token = at::empty({1}, at::TensorOptions().dtype(at::kInt).device(at::kCUDA));
    const auto tokens = at::empty({size()}, token.options());
    return start("publish", {tokens, token}, [&] { gather(tokens, token); });
  }

  Work all_to_all(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(out.numel() == in.numel() && in.numel() % size() == 0 && out.dtype() == in.dtype());
    count_sent(static_cast<int64_t>(in.nbytes()) / size() * (size() - 1));
    return start("all_to_all", {out, in}, [&] { exchange(out, in); });
  }

  Work reduce_scatter(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(in.numel() == size() * out.numel()) << in.sizes() << " into " << out.sizes();
    count_sent(static_cast<int64_t>(in.nbytes()) / size() * (size() - 1));
    return start("reduce_scatter", {out, in}, [&] { reduce(out, in); });
  }

  Work all_reduce(at::Tensor in_out) override {
    const int64_t shard = (in_out.numel() + size() - 1) / size();
    count_sent(2 * (size() - 1) * shard * in_out.element_size());
    return start("all_reduce", {in_out}, [&] {
      const auto flat = in_out.view({-1});
      if (static_cast<int64_t>(in_out.nbytes()) <= kSmallBytes) {
        const auto all = at::empty({size(), flat.numel()}, flat.options());
        gather(all, flat);
        ordered_sum_cuda(flat, all);
        return;
      }
      const auto padded = at::zeros({size() * shard}, flat.options());
      const auto values = padded.narrow(0, 0, flat.numel());
      const auto sum = at::empty({shard}, flat.options());
      values.copy_(flat);
      reduce(sum, padded);
      gather(padded, sum);
      flat.copy_(values);
    });
  }

  Work broadcast(at::Tensor in_out, int root) override {
    if (rank() == root) count_sent(static_cast<int64_t>(in_out.nbytes()));
    return start("broadcast", {in_out}, [&] {
      std::vector<at::Tensor> tensors{in_out.view({-1})};
      c10d::BroadcastOptions options;
      options.rootRank = root;
      backend().broadcast(tensors, options)->wait();
    });
  }

  void barrier() override {
    const auto token = at::ones({1}, at::TensorOptions().dtype(at::kInt).device(at::kCUDA));
    const auto tokens = at::empty({size()}, token.options());
    start("barrier", {tokens, token}, [&] { gather(tokens, token); }).wait();
    c10::cuda::getCurrentCUDAStream().synchronize();
    connection_->guarded("barrier", [] {});  // The stream also comes free when the group is aborted.
  }

  void set_timeout(std::chrono::milliseconds timeout) override { backend().setTimeout(timeout); }

 private:
  c10d::ProcessGroupNCCL& backend() { return connection_->backend(); }

  // Runs `body` with the communicator's stream as the current one, which goes on from where
  // the caller's is. In it, waiting for torch's work makes that stream wait, so the parts of
  // an operation follow each other while the caller's stream goes on.
  template <typename Body>
  Work start(const char* operation, std::vector<at::Tensor> in_use, const Body& body) {
    connection_->group().position->operation = operation;
    ++connection_->group().position->sequence;
    connection_->guarded(operation, [&] {
      at::cuda::CUDAEvent called;
      called.record(c10::cuda::getCurrentCUDAStream());
      called.block(stream_);
      const c10::cuda::CUDAStreamGuard on_stream(stream_);
      body();
    });
    return Work(std::make_shared<StreamWork>(connection_, operation, stream_, std::move(in_use)));
  }

  void gather(const at::Tensor& out, const at::Tensor& in) {
    auto out_flat = out.view({-1});
    auto in_flat = in.view({-1});
    backend()._allgather_base(out_flat, in_flat)->wait();
  }

  void exchange(const at::Tensor& out, const at::Tensor& in) {
    auto out_flat = out.view({-1});
    auto in_flat = in.view({-1});
    std::vector<int64_t> even;
    backend().alltoall_base(out_flat, in_flat, even, even)->wait();
  }

  // out: [n], in: [W * n]. Holds a second [W * n] until the sum is done.
  void reduce(const at::Tensor& out, const at::Tensor& in) {
    const auto received = at::empty({size(), out.numel()}, in.options());
    exchange(received, in);
    ordered_sum_cuda(out.view({-1}), received);
  }

  std::shared_ptr<Connection> connection_;
  c10::cuda::CUDAStream stream_;
  std::unique_ptr<PeerMemory> peers_;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(Group group) {
  return std::make_unique<NcclCommunicator>(std::move(group));
}

}  // namespace lockstep::comm
