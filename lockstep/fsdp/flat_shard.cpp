#include "lockstep/fsdp/flat_shard.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

#include "lockstep/base/check.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::fsdp {

FlatShard::FlatShard(ShardLayout layout, std::vector<at::Tensor> parameters, const FsdpOptions& options,
                     comm::Mesh& mesh, UnitMemory& memory)
    : layout_(std::move(layout)),
      parameters_(std::move(parameters)),
      options_(options),
      mesh_(mesh),
      trainable_(parameters_.front().requires_grad()),
      aliased_(mesh.shard_size() == 1 && options.compute == options.master),
      taken_(parameters_.size(), false),
      lent_(parameters_.size(), Lent::kNot) {
  shard_ =
      at::zeros({layout_.shard_numel()}, at::TensorOptions().dtype(options.master).device(options.device));
  shard_.set_requires_grad(trainable_);
  if (!aliased_) gathered_.emplace(layout_.padded_numel(), options.compute, options.device, memory);
  if (!trainable_) return;
  for (size_t i = 0; i < parameters_.size(); ++i)
    nn::set_gradient_home(parameters_[i], [this, i](nn::HomeUse use) { return lend_region(i, use); });
}

FlatShard::~FlatShard() {
  for (const at::Tensor& parameter : parameters_) nn::remove_gradient_home(parameter);
}

void FlatShard::adopt(size_t i) {
  const at::NoGradGuard no_grad;
  const auto& layout = layout_.parameters()[i];
  const at::Tensor flat = aliased_ ? shard_.detach() : gathered_->tensor();
  const at::Tensor view = flat.narrow(0, layout.flat_offset, layout.numel).view(layout.sizes);
  // As set_data, which refuses a change of device from meta; every holder of the parameter
  // sees the view, since they share the TensorImpl.
  parameters_[i].unsafeGetTensorImpl()->shallow_copy_from(view.getIntrusivePtr());
}

bool FlatShard::current() const {
  return aliased_ || (gathered_->allocated() && gathered_version_ == shard_._version());
}

void FlatShard::begin_gather() {
  if (current()) return;
  const at::NoGradGuard no_grad;
  LOCKSTEP_CHECK(!gather_.has_value()) << "the weights changed while they were being gathered";
  if (!gathered_->allocated()) gathered_->allocate();
  gathered_version_ = shard_._version();
  if (mesh_.shard_size() == 1) {
    gathered_->tensor().copy_(shard_);
    return;
  }
  gather_ = gather();
}

comm::Work FlatShard::gather() {
  auto& comm = mesh_.shard_gather();
  const uint32_t version = shard_._version();
  const bool is_copy = options_.compute != options_.master;
  if (!compute_shard_.defined()) {
    compute_shard_ = shard_.detach().to(options_.compute);
  } else if (is_copy && compute_version_ != version) {
    if (published_version_) comm.publish().wait();  // nobody reads it any more
    compute_shard_.copy_(shard_);
  }
  compute_version_ = version;
  return published_version_ == version ? comm.gather_shared(gathered_->tensor(), compute_shard_)
                                       : comm.all_gather(gathered_->tensor(), compute_shard_);
}

void FlatShard::published() {
  if (compute_version_ == shard_._version() || options_.compute == options_.master)
    published_version_ = shard_._version();
}

int64_t FlatShard::gathered_bytes() const {
  size_t bytes = 0;
  if (!aliased_ && gathered_->allocated()) bytes += gathered_->tensor().nbytes();
  if (compute_shard_.defined() && options_.compute != options_.master) bytes += compute_shard_.nbytes();
  return static_cast<int64_t>(bytes);
}

int64_t FlatShard::gradient_bytes() const {
  size_t bytes = 0;
  const at::Tensor& grad = shard_.grad().defined() ? shard_.grad() : grad_memory_;
  for (const at::Tensor* held : {&grad, &gradients_, &reduced_})
    if (held->defined()) bytes += held->nbytes();
  return static_cast<int64_t>(bytes);
}

at::Tensor FlatShard::compute_copy() const {
  if (options_.compute != at::kBFloat16 || options_.master == at::kBFloat16) return {};
  if (mesh_.shard_size() > 1) return compute_shard_;
  return gathered_->allocated() ? gathered_->tensor() : at::Tensor();
}

void FlatShard::copy_written() {
  // Without a gradient the optimizer has passed the shard over.
  if (!shard_.grad().defined() || !compute_copy().defined()) return;
  (mesh_.shard_size() > 1 ? compute_version_ : gathered_version_) = shard_._version();
}

void FlatShard::finish_gather() {
  if (!gather_) return;
  gather_->wait();
  gather_.reset();
}

void FlatShard::release() {
  if (aliased_) return;
  finish_gather();
  gathered_->release();
}

at::Tensor& FlatShard::collected() {
  at::Tensor& sum = adds_in_place() ? shard_.mutable_grad() : gradients_;
  if (!sum.defined()) {
    const auto dtype = adds_in_place() ? options_.grad.value_or(options_.sum()) : options_.reduce;
    sum = grad_memory_.defined()
              ? grad_memory_.detach()
              : at::empty({layout_.padded_numel()}, at::TensorOptions().dtype(dtype).device(options_.device));
    taken_.assign(taken_.size(), false);
    lent_.assign(lent_.size(), Lent::kNot);
  }
  return sum;
}

at::Tensor FlatShard::region(size_t i) {
  const auto& layout = layout_.parameters()[i];
  return collected().narrow(0, layout.flat_offset, layout.numel);
}

at::Tensor FlatShard::lend_region(size_t i, nn::HomeUse use) {
  const at::NoGradGuard no_grad;
  const bool stays = use == nn::HomeUse::kStays;
  // Only where a step is one backward: a second one adds to what the first has left.
  if (stays && !(adds_in_place() && options_.grad)) return {};
  if (collected().scalar_type() != parameters_[i].scalar_type() || taken_[i]) return {};
  const Lent expected = use == nn::HomeUse::kBegun ? Lent::kToWrite : Lent::kNot;
  if (lent_[i] != expected) return {};
  lent_[i] = use == nn::HomeUse::kBegun ? Lent::kToAdd : Lent::kToWrite;
  if (stays) grad_memory_ = shard_.grad();
  return region(i).view(layout_.parameters()[i].sizes);
}

void FlatShard::take_gradient(size_t i) {
  const at::NoGradGuard no_grad;
  const at::Tensor gradient = std::exchange(parameters_[i].mutable_grad(), at::Tensor()).reshape({-1});
  const at::Tensor place = region(i);
  if (taken_[i]) {
    place.add_(gradient);
  } else if (gradient.const_data_ptr() != place.const_data_ptr()) {
    LOCKSTEP_CHECK(lent_[i] != Lent::kToAdd) << "parameter " << layout_.parameters()[i].name
                                             << ": more than two gradients in one backward, of which "
                                             << "one was added to another where it lay";
    place.copy_(gradient);
  }
  taken_[i] = true;
}

// Parameters without a gradient, and what lies between and behind parameters.
void FlatShard::zero_what_was_not_taken() {
  const at::Tensor& sum = collected();
  const auto& parameters = layout_.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int64_t begin = parameters[i].flat_offset + (taken_[i] ? parameters[i].numel : 0);
    const int64_t end = i + 1 < parameters.size() ? parameters[i + 1].flat_offset : layout_.padded_numel();
    if (begin < end) sum.narrow(0, begin, end - begin).zero_();
  }
}

void FlatShard::begin_reduce() {
  const at::NoGradGuard no_grad;
  zero_what_was_not_taken();
  if (adds_in_place()) {
    taken_.assign(taken_.size(), true);  // by zeros too: the next micro-batch adds
    return;
  }
  taken_.assign(taken_.size(), false);
  lent_.assign(lent_.size(), Lent::kNot);
  if (mesh_.shard_size() == 1) {
    reduced_ = gradients_.to(options_.sum());
    reduction_ = mesh_.replicate().all_reduce(reduced_);
    return;
  }
  reduced_ = at::empty_like(shard_.detach(), options_.sum());
  auto& comm = mesh_.shard_reduce();
  reduction_ = options_.reduce_scatter ? options_.reduce_scatter(comm, reduced_, gradients_)
                                       : comm.reduce_scatter(reduced_, gradients_);
}

void FlatShard::finish_reduce(bool last_micro_batch) {
  if (!reduced_.defined()) return;
  const at::NoGradGuard no_grad;
  reduction_.wait();
  gradients_.reset();
  if (options_.elastic) {
    if (mesh_.shard_size() > 1 && mesh_.replicate_size() > 1) mesh_.replicate().all_reduce(reduced_).wait();
    micro_batches_.add(std::exchange(reduced_, at::Tensor()));
    if (!last_micro_batch) return;
    reduced_ = micro_batches_.take();
  }
  if (shard_.grad().defined()) {
    shard_.mutable_grad().add_(reduced_);
  } else {
    shard_.mutable_grad() = reduced_;
  }
  reduced_.reset();
}

void FlatShard::all_reduce_replicas() {
  if (mesh_.replicate_size() == 1 || options_.elastic) return;
  mesh_.replicate().all_reduce(shard_.mutable_grad()).wait();
}

}  // namespace lockstep::fsdp
