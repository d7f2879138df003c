// Some parameters of a unit as one flat vector: this rank's shard, the gathered copy that
// the module computes with, and the way of their gradients back into the shard.
//
// P elements, W ranks along the shard axis, S = ceil(P / W). Bytes held: the shard S * master, and S *
// compute where that is another dtype and W > 1; its gradient S * sum() once there is one (elastic: up to
// log2(A) + 1 of them while A micro-batches are summed), between steps too where CUDA graphs write there;
// gathered, W * S * compute; between a unit's first gradient and the end of its reduction, W * S * reduce.
//
// Rank rules: the gather and reduce calls are collective over the shard axis.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "lockstep/comm/mesh.h"
#include "lockstep/fsdp/gathered_buffer.h"
#include "lockstep/fsdp/gradient_tree.h"
#include "lockstep/fsdp/options.h"
#include "lockstep/fsdp/shard_layout.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::fsdp {

class FlatShard {
 public:
  // `parameters` are the module's own tensors, in the layout's order, all trainable or all
  // frozen. The shard starts as zeros; fill it, then call `adopt`.
  FlatShard(ShardLayout layout, std::vector<at::Tensor> parameters, const FsdpOptions& options,
            comm::Mesh& mesh, UnitMemory& memory);
  ~FlatShard();
  FlatShard(const FlatShard&) = delete;
  FlatShard& operator=(const FlatShard&) = delete;

  const ShardLayout& layout() const { return layout_; }
  const at::Tensor& shard() const {
    return shard_;
  }  // [S] master; a leaf, its grad() is the reduced gradient
  bool trainable() const { return trainable_; }
  size_t size() const { return parameters_.size(); }
  const at::Tensor& parameter(size_t i) const { return parameters_[i]; }

  // Makes parameter i a view of the gathered copy; what it held before is let go.
  void adopt(size_t i);

  // The gathered copy. `begin_gather` starts it unless it is there and current (the shard
  // unchanged since); `finish_gather` makes it usable.
  void begin_gather();
  void finish_gather();
  // Frees the copy; does nothing where the parameters are views of the shard itself.
  void release();
  bool gathered() const { return current() && !gather_.has_value(); }
  // Held now: the gathered copy where there is one, with the shard as it is sent; and gradients, of this
  // backward and reduced.
  int64_t gathered_bytes() const;
  int64_t gradient_bytes() const;

  // The shard in bfloat16 where the module computes in that and it is there, else undefined; and that the
  // optimizer, which passes over a shard without a gradient, has written the shard's present values to it.
  at::Tensor compute_copy() const;
  void copy_written();

  // What gathers send, undefined before the first; and that every rank may read what it holds now, by the
  // gather communicator's gather_shared.
  const at::Tensor& sent() const { return compute_shard_; }
  void published();

  // Takes the gradient that autograd left on parameter i.
  void take_gradient(size_t i);
  // Reduces what was taken (zeros for parameters without one) and adds it to shard().grad(); with
  // FsdpOptions::elastic it is added there after the step's last micro-batch, summed as a tree.
  void begin_reduce();
  void finish_reduce(bool last_micro_batch);
  // Sums shard().grad() over the replicas, unless elastic reductions have; after the last
  // micro-batch of a step.
  void all_reduce_replicas();

 private:
  enum class Lent { kNot, kToWrite, kToAdd };

  bool current() const;
  // Begins the gather of what is sent, bringing that up to date.
  comm::Work gather();

  // Gradients go straight into the shard's: nothing is sent, no order is asked for.
  bool adds_in_place() const { return mesh_.shard_size() == 1 && !options_.elastic; }
  // Where this backward's gradients are collected, and parameter i's place there.
  at::Tensor& collected();
  at::Tensor region(size_t i);
  at::Tensor lend_region(size_t i, nn::HomeUse use);
  void zero_what_was_not_taken();

  ShardLayout layout_;
  std::vector<at::Tensor> parameters_;
  const FsdpOptions& options_;
  comm::Mesh& mesh_;
  bool trainable_;
  // One shard in the computing dtype: the module works on the shard itself, nothing is copied.
  bool aliased_;
  at::Tensor shard_;
  std::optional<GatheredBuffer> gathered_;  // absent when aliased_
  uint32_t gathered_version_ = 0;           // of the shard, when it was last gathered
  // What is gathered, where there are ranks to gather from: [S] in the computing dtype, made by the first
  // gather; the shard itself where that has it.
  at::Tensor compute_shard_;
  uint32_t compute_version_ = 0;               // of the shard, when compute_shard_ was written
  std::optional<uint32_t> published_version_;  // and when it was last published, if ever
  std::optional<comm::Work> gather_;
  at::Tensor gradients_;     // [W * S] in the reduce dtype; undefined between backwards
  at::Tensor grad_memory_;   // of the shard's grad() in every step, once a home there was lent to stay
  std::vector<bool> taken_;  // by parameter: gradients_, or the shard's grad(), holds its gradient
  std::vector<Lent> lent_;   // by parameter: what for, until its gradient arrives (nn/gradient_home.h)
  at::Tensor reduced_;       // [S] options' sum(), while a reduction runs
  comm::Work reduction_;
  GradientTree micro_batches_;  // of the step so far, when elastic
};

}  // namespace lockstep::fsdp
