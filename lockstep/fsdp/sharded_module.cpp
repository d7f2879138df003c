#include "lockstep/fsdp/sharded_module.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lockstep/base/check.h"
#include "lockstep/base/error.h"
#include "lockstep/fsdp/gradient_norm.h"
#include "lockstep/fsdp/schedule.h"
#include "lockstep/fsdp/unit_plan.h"

namespace lockstep::fsdp {
namespace {

// Fresh tensors start at multiples of this at least, on GPUs. cuBLAS chooses its kernel by how its
// operands are aligned, up to so many bytes; which units there are must not change the choice. Nor whether
// layers are computed as one (nn/linears.h): with an alignment no two weights lie side by side.
constexpr int64_t kAllocationBytes = 256;

// One flat vector for the trainable parameters of a unit and one for its frozen ones. Matrices go first, so
// that those of layers with one input lie side by side, as their biases do, and are multiplied at once
// (nn/linears.h).
std::vector<std::unique_ptr<FlatShard>> make_shards(const PlannedUnit& planned, const FsdpOptions& options,
                                                    comm::Mesh& mesh, UnitMemory& memory) {
  const int64_t alignment =
      options.elastic ? kAllocationBytes / static_cast<int64_t>(c10::elementSize(options.compute)) : 1;
  std::vector<std::unique_ptr<FlatShard>> shards;
  for (const bool trainable : {true, false}) {
    std::vector<ParameterLayout> layouts;
    std::vector<at::Tensor> tensors;
    auto parameters = planned.parameters;
    std::stable_partition(parameters.begin(), parameters.end(),
                          [](const auto& p) { return p.tensor.dim() > 1; });
    for (const auto& [name, tensor] : parameters) {
      if (tensor.requires_grad() != trainable) continue;
      layouts.push_back({name, tensor.sizes().vec(), tensor.numel(), 0});
      tensors.push_back(tensor);
    }
    if (tensors.empty()) continue;
    shards.push_back(
        std::make_unique<FlatShard>(ShardLayout(std::move(layouts), mesh.shard_size(), alignment),
                                    std::move(tensors), options, mesh, memory));
  }
  return shards;
}

}  // namespace

ShardedModule::ShardedModule(std::shared_ptr<torch::nn::Module> root, comm::Mesh& mesh, FsdpOptions options)
    : root_(std::move(root)),
      mesh_(mesh),
      options_(std::move(options)),
      memory_(options_.device, /*keeps=*/options_.device.is_cuda()),
      schedule_(std::make_unique<Schedule>(options_, mesh_)) {
  LOCKSTEP_CHECK(!options_.grad || mesh_.world_size() == 1)
      << "gradients in a dtype of their own, summed over ranks";
  if (!options_.wrap) options_.wrap = wrap_by_size();
  std::set<void*> seen;
  for (const auto& parameter : root_->named_parameters()) {  // lists tied ones under each name
    if (seen.insert(parameter.value().unsafeGetTensorImpl()).second) names_.push_back(parameter.key());
  }
  const auto plan = plan_units(*root_, options_.wrap);
  for (const auto& planned : plan) {
    const int index = static_cast<int>(units_.size());
    auto unit = std::make_shared<Unit>(planned.name, index, make_shards(planned, options_, mesh_, memory_),
                                       *schedule_);
    materialise(*unit);
    unit->watch_gradients();
    if (auto* module = dynamic_cast<nn::Module*>(planned.module)) {
      module->set_forward_hooks(unit);
      root_has_hooks_ |= index == 0;
    }
    unit_modules_.push_back(planned.module);
    units_.push_back(std::move(unit));
  }
  schedule_->set_units(units_);
  for (const auto& [name, buffer] : buffers()) {
    const at::NoGradGuard no_grad;
    const at::Tensor values = buffer.to(options_.device).contiguous();
    mesh_.world().broadcast(values, 0).wait();
    buffer.unsafeGetTensorImpl()->shallow_copy_from(values.getIntrusivePtr());
  }

  places_.resize(names_.size());
  for (size_t u = 0; u < units_.size(); ++u) {
    for (size_t s = 0; s < units_[u]->shards().size(); ++s) {
      const auto& parameters = units_[u]->shards()[s]->layout().parameters();
      for (size_t i = 0; i < parameters.size(); ++i) {
        const auto found = std::find(names_.begin(), names_.end(), parameters[i].name);
        LOCKSTEP_CHECK(found != names_.end()) << parameters[i].name;
        places_[static_cast<size_t>(found - names_.begin())] = {u, s, i};
      }
    }
  }
}

ShardedModule::~ShardedModule() {
  for (auto* module : unit_modules_) {
    if (auto* hooked = dynamic_cast<nn::Module*>(module)) hooked->set_forward_hooks(nullptr);
  }
}

void ShardedModule::materialise(Unit& unit) {
  const at::NoGradGuard no_grad;
  for (const auto& shard : unit.shards()) {
    const auto slices = shard->layout().slices_of(mesh_.shard_index());
    for (size_t i = 0; i < shard->size(); ++i) {
      const auto& layout = shard->layout().parameters()[i];
      const at::Tensor& parameter = shard->parameter(i);
      at::Tensor whole;
      if (!parameter.is_meta()) {
        whole = parameter.detach().to(options_.device, options_.master).contiguous().view({-1});
        mesh_.world().broadcast(whole, 0).wait();
      }
      for (const auto& slice : slices) {
        if (slice.parameter != i) continue;
        const at::Tensor target = shard->shard().detach().narrow(0, slice.shard_offset, slice.length);
        if (whole.defined()) {
          target.copy_(whole.narrow(0, slice.parameter_offset, slice.length));
          continue;
        }
        auto* source = dynamic_cast<nn::WeightSource*>(root_.get());
        if (source == nullptr) {
          throw ConfigError(fmt::format(
              "fsdp: parameter {} is a meta tensor and {} is no nn::WeightSource that could fill it. Give it "
              "values before sharding, or derive the root module from nn::WeightSource",
              layout.name, root_->name()));
        }
        if (target.is_cpu()) {
          source->read(layout.name, slice.parameter_offset, target);
        } else {
          const at::Tensor values = at::empty({slice.length}, target.options().device(at::kCPU));
          source->read(layout.name, slice.parameter_offset, values);
          target.copy_(values);
        }
      }
      shard->adopt(i);
    }
  }
}

std::vector<at::Tensor> ShardedModule::parameters() const {
  std::vector<at::Tensor> shards;
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) {
      if (shard->trainable()) shards.push_back(shard->shard());
    }
  }
  return shards;
}

std::vector<at::Tensor> ShardedModule::compute_copies() const {
  std::vector<at::Tensor> copies;
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) {
      if (shard->trainable()) copies.push_back(shard->compute_copy());
    }
  }
  return copies;
}

void ShardedModule::copies_written() {
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) shard->copy_written();
  }
  publish();
}

void ShardedModule::publish() {
  if (mesh_.shard_size() == 1 || !options_.peer_copies) return;
  auto& comm = mesh_.shard_gather();
  if (!shares_) {
    std::vector<at::Tensor> sent;
    for (const auto& unit : units_) {
      for (const auto& shard : unit->shards()) {
        if (!shard->sent().defined()) return;  // a unit that has not run
        sent.push_back(shard->sent());
      }
    }
    shares_ = comm.share(sent);
  }
  if (!*shares_) return;
  published_ = comm.publish();  // later gathers come behind it; nobody else has to wait
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) shard->published();
  }
}

std::vector<NamedSlice> ShardedModule::slices() const {
  std::vector<NamedSlice> result;
  int64_t next_trainable = 0;
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) {
      const int64_t shard_index = shard->trainable() ? next_trainable++ : -1;
      for (const auto& slice : shard->layout().slices_of(mesh_.shard_index())) {
        const auto& layout = shard->layout().parameters()[slice.parameter];
        result.push_back({layout.name, layout.sizes, slice.parameter_offset,
                          shard->shard().detach().narrow(0, slice.shard_offset, slice.length), shard_index,
                          slice.shard_offset});
      }
    }
  }
  return result;
}

std::vector<UnitInfo> ShardedModule::units() const {
  std::vector<UnitInfo> infos;
  for (size_t u = 0; u < units_.size(); ++u) {
    UnitInfo info{u == 0 ? "(root)" : units_[u]->name(), type_name_of(*unit_modules_[u]), units_[u]->numel(),
                  0};
    for (const auto& shard : units_[u]->shards()) {
      if (!shard->trainable()) info.frozen_numel += shard->layout().numel();
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<std::pair<std::string, int64_t>> ShardedModule::shard_indices() const {
  std::vector<std::pair<std::string, int64_t>> result;
  int64_t next_trainable = 0;
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) {
      const int64_t index = shard->trainable() ? next_trainable++ : -1;
      for (const auto& parameter : shard->layout().parameters()) result.emplace_back(parameter.name, index);
    }
  }
  return result;
}

std::vector<std::pair<std::string, at::Tensor>> ShardedModule::buffers() const {
  std::vector<std::pair<std::string, at::Tensor>> result;
  for (const auto& buffer : root_->named_buffers()) {
    if (buffer.value().defined() && !buffer.value().is_meta())
      result.emplace_back(buffer.key(), buffer.value());
  }
  return result;
}

int64_t ShardedModule::numel() const {
  int64_t total = 0;
  for (const auto& unit : units_) total += unit->numel();
  return total;
}

ShardedModule::HeldBytes ShardedModule::held_bytes() const {
  HeldBytes held{.gathered = memory_.free_bytes()};
  for (const auto& unit : units_) {
    for (const auto& shard : unit->shards()) {
      held.shards += static_cast<int64_t>(shard->shard().nbytes());
      held.gradients += shard->gradient_bytes();
      held.gathered += shard->gathered_bytes();
    }
  }
  return held;
}

at::Tensor ShardedModule::full_parameter(const std::string& name) { return gather_slices(name, false); }

at::Tensor ShardedModule::full_gradient(const std::string& name) { return gather_slices(name, true); }

// Each rank in turn sends its slice: the largest parameter in memory, nothing more.
at::Tensor ShardedModule::gather_slices(const std::string& name, bool gradient) {
  const at::NoGradGuard no_grad;
  const auto found = std::find(names_.begin(), names_.end(), name);
  LOCKSTEP_CHECK(found != names_.end()) << "no parameter " << name;
  const Place place = places_[static_cast<size_t>(found - names_.begin())];
  const FlatShard& shard = *units_[place.unit]->shards()[place.shard];
  const at::Tensor flat = gradient ? shard.shard().grad() : shard.shard().detach();
  LOCKSTEP_CHECK(flat.defined()) << name << " has no gradient";
  const auto& layout = shard.layout().parameters()[place.index];
  const at::Tensor whole = at::empty({layout.numel}, flat.options());
  for (int rank = 0; rank < mesh_.shard_size(); ++rank) {
    for (const auto& slice : shard.layout().slices_of(rank)) {
      if (slice.parameter != place.index) continue;
      const at::Tensor part = whole.narrow(0, slice.parameter_offset, slice.length);
      if (rank == mesh_.shard_index()) part.copy_(flat.narrow(0, slice.shard_offset, slice.length));
      mesh_.shard_gather().broadcast(part, rank).wait();
    }
  }
  return whole.view(layout.sizes).to(at::kCPU);
}

void ShardedModule::set_last_micro_batch(bool last) { schedule_->set_last_micro_batch(last); }

void ShardedModule::keep_gathered(bool keep) {
  memory_.set_lending(keep);  // the whole model is gathered for a while only
  schedule_->keep_gathered(keep);
}

std::vector<at::Tensor> ShardedModule::gradients() const {
  std::vector<at::Tensor> result;
  for (const auto& shard : parameters()) {
    if (shard.grad().defined()) result.push_back(shard.grad());
  }
  return result;
}

double ShardedModule::grad_norm() {
  const at::NoGradGuard no_grad;
  const bool exact = options_.elastic || options_.master == c10::kDouble;  // whose squares overflow float64
  return gradient_norm(gradients(), options_.device, mesh_.shard_gather(),
                       exact ? NormSum::kExact : NormSum::kPlain);
}

double ShardedModule::clip_grad_norm(double max_norm) {
  const double norm = grad_norm();
  const double scale = clip_scale(norm, max_norm);
  if (scale == 1) return norm;
  const at::NoGradGuard no_grad;
  for (auto& gradient : gradients()) gradient.mul_(scale);
  return norm;
}

void ShardedModule::before_root_forward() { units_.front()->before_forward(); }

void ShardedModule::after_root_forward(const std::vector<at::Tensor>& outputs) {
  units_.front()->after_forward(outputs);
}

void ShardedModule::abandon_root_forward() noexcept { units_.front()->abandon_forward(); }

}  // namespace lockstep::fsdp
