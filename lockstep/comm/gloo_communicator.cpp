#include "lockstep/comm/gloo_communicator.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/gloo_process_group.h"
#include "lockstep/comm/group.h"
#include "lockstep/comm/ordered_sum.h"
#include "lockstep/comm/work_thread.h"

namespace lockstep::comm {
namespace {

// A reduce-scatter moves at most about this much at a time, so that the other ranks'
// gradients never need a buffer as large as our own.
constexpr int64_t kPieceBytes = 8 << 20;

at::Tensor as_bytes(const at::Tensor& tensor) { return tensor.view({-1}).view(at::kByte); }

class GlooCommunicator : public Communicator {
 public:
  explicit GlooCommunicator(Group group)
      : Communicator(group.name, group.rank, group.size()), group_(std::move(group)) {
    guarded("connect", [&] { backend_ = connect_gloo(group_); });
  }

  Work all_gather(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(out.numel() == size() * in.numel() && out.dtype() == in.dtype());
    count_sent((size() - 1) * static_cast<int64_t>(in.nbytes()));
    return start("all_gather", [this, out, in] { gather(out, in); });
  }

  Work all_to_all(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(out.numel() == in.numel() && in.numel() % size() == 0 && out.dtype() == in.dtype());
    count_sent(static_cast<int64_t>(in.nbytes()) / size() * (size() - 1));
    return start("all_to_all", [this, out, in] { exchange(out, in); });
  }

  Work reduce_scatter(at::Tensor out, at::Tensor in) override {
    LOCKSTEP_CHECK(in.numel() == size() * out.numel()) << in.sizes() << " into " << out.sizes();
    count_sent(static_cast<int64_t>(in.nbytes()) / size() * (size() - 1));
    return start("reduce_scatter", [this, out, in] { reduce(out, in); });
  }

  Work all_reduce(at::Tensor in_out) override {
    const int64_t shard = (in_out.numel() + size() - 1) / size();
    count_sent(2 * (size() - 1) * shard * in_out.element_size());
    return start("all_reduce", [this, in_out, shard] {
      auto padded = at::zeros({shard * size()}, in_out.options());
      padded.narrow(0, 0, in_out.numel()).copy_(in_out.view({-1}));
      auto sum = at::empty({shard}, in_out.options());
      reduce(sum, padded);
      gather(padded, sum);
      in_out.view({-1}).copy_(padded.narrow(0, 0, in_out.numel()));
    });
  }

  Work broadcast(at::Tensor in_out, int root) override {
    if (rank() == root) count_sent(static_cast<int64_t>(in_out.nbytes()));
    return start("broadcast", [this, in_out, root] {
      std::vector<at::Tensor> tensors{as_bytes(in_out)};
      c10d::BroadcastOptions options;
      options.rootRank = root;
      backend_->broadcast(tensors, options)->wait();
    });
  }

  void barrier() override {
    start("barrier", [this] { backend_->barrier()->wait(); }).wait();
  }

  void set_timeout(std::chrono::milliseconds timeout) override { backend_->setTimeout(timeout); }

 private:
  void gather(const at::Tensor& out, const at::Tensor& in) {
    auto out_bytes = as_bytes(out);
    auto in_bytes = as_bytes(in);
    backend_->_allgather_base(out_bytes, in_bytes)->wait();
  }

  void exchange(const at::Tensor& out, const at::Tensor& in) {
    auto out_bytes = as_bytes(out);
    auto in_bytes = as_bytes(in);
    std::vector<int64_t> even;
    backend_->alltoall_base(out_bytes, in_bytes, even, even)->wait();
  }

  // out: [n], in: [W * n].
  void reduce(const at::Tensor& out, const at::Tensor& in) {
    const int64_t n = out.numel();
    const auto chunks = in.view({size(), n});
    const auto sum = out.view({-1});
    const int64_t piece = std::max<int64_t>(1, kPieceBytes / (size() * in.element_size()));
    for (int64_t start = 0; start < n; start += piece) {
      const int64_t count = std::min(piece, n - start);
      const auto sent = chunks.narrow(1, start, count).contiguous();
      const auto received = at::empty_like(sent);
      exchange(received, sent);
      ordered_sum(sum.narrow(0, start, count), received);
    }
  }

  Work start(const char* operation, std::function<void()> body) {
    group_.position->operation = operation;
    ++group_.position->sequence;
    return thread_.submit([this, operation, body = std::move(body)] { guarded(operation, body); });
  }

  void guarded(const char* operation, const std::function<void()>& body) {
    try {
      body();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      std::rethrow_exception(peer_failure(group_, operation, error.what()));
    }
  }

  const Group group_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  WorkThread thread_;  // last: ends before what its operations use
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(Group group) {
  return std::make_unique<GlooCommunicator>(std::move(group));
}

}  // namespace lockstep::comm
