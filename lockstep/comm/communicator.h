// Collectives among the ranks of one group.
//
// Rules for all of them:
//  - Collective: every rank of the group calls the same operations in the same order with
//    the same sizes and dtypes.
//  - Asynchronous: a call starts the operation and returns `Work`. Operations of one
//    communicator run one after the other, in the order of the calls; those of different
//    communicators are independent. Tensors must stay alive and untouched until `wait`.
//  - On CPU `wait` blocks the calling thread until the data is there; on GPU it makes the
//    current stream wait and returns at once.
//  - Every wait ends: when a peer is gone it throws CommError, past `timeout` HangError, with own
//    rank, the operation, and the peers that are silent or behind and where (from the heartbeats
//    in the store). After that the communicator is broken for good: every later call throws the
//    same.
//  - One thread of a rank may call at a time.
//  - Sums are done in one fixed order (comm/ordered_sum.h), so they give the same bits in
//    every run, whatever the timing.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::comm {

// An operation under way. It keeps the tensors that it uses; dropping it without `wait` drops
// its error too, which every later operation of the communicator then throws.
class Work {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual void wait() = 0;
  };

  Work() = default;  // nothing to wait for
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void wait() {
    if (auto state = std::move(state_)) state->wait();
  }

 private:
  std::shared_ptr<State> state_;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  int rank() const { return rank_; }  // in this group
  int size() const { return size_; }
  const std::string& name() const { return name_; }

  // out: [W * n] from in: [n] of every rank, in rank order, any dtype. Sends (W-1) * n elements.
  virtual Work all_gather(at::Tensor out, at::Tensor in) = 0;
  // Tensors that are gathered again and again, from the same memory, `in` of gather_shared from now on.
  // Whether that is possible, on every rank alike; why not is logged. Collective; `tensors` live as long as
  // any rank's communicator.
  virtual bool share(const std::vector<at::Tensor>& /*tensors*/) { return false; }
  // As all_gather, of a shared tensor: it may be read while this rank does something else, and what is read
  // is what it held at the last `publish`. Whoever writes to it waits until every rank has read: for the Work
  // of a publish, or for any other operation that every rank starts after its gathers have ended.
  virtual Work gather_shared(at::Tensor out, at::Tensor in) { return all_gather(out, in); }
  // What this rank's shared tensors hold now is what is read from then on, also on the other ranks.
  virtual Work publish() { return {}; }
  // out: [W * n]; chunk r of `in` [W * n] goes to rank r. Sends (W-1) * n elements.
  virtual Work all_to_all(at::Tensor out, at::Tensor in) = 0;
  // out: [n] = sum over ranks of their chunk `rank()` of in: [W * n]. `in` travels in its
  // own dtype and is summed in `out`'s dtype (float32 or float64) in the fixed order, so
  // bf16 gradients are rounded once. Sends (W-1) * n elements of in's dtype.
  virtual Work reduce_scatter(at::Tensor out, at::Tensor in) = 0;
  // In place, same fixed order: every rank ends with the same bits.
  virtual Work all_reduce(at::Tensor in_out) = 0;
  virtual Work broadcast(at::Tensor in_out, int root) = 0;
  virtual void barrier() = 0;

  // The longest wait in operations that start from now on; at first the rendezvous' own. Not a collective,
  // and not while an operation is under way.
  virtual void set_timeout(std::chrono::milliseconds timeout) = 0;

  // Bytes that this rank has sent so far through this communicator, by the formulas above
  // (all_reduce: 2 * (W-1)/W * bytes; broadcast: bytes at the root).
  int64_t bytes_sent() const { return bytes_sent_; }

 protected:
  Communicator(std::string name, int rank, int size) : name_(std::move(name)), rank_(rank), size_(size) {}
  void count_sent(int64_t bytes) { bytes_sent_ += bytes; }

 private:
  std::string name_;
  int rank_, size_;
  int64_t bytes_sent_ = 0;
};

}  // namespace lockstep::comm
