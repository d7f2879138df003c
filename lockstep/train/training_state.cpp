#include "lockstep/train/training_state.h"

#include <fmt/core.h>

#include <map>

#include "lockstep/base/error.h"
#include "lockstep/models/dtype.h"

namespace lockstep::train {
namespace {

checkpoint::TensorInfo info_of(const std::string& name, const at::Tensor& values,
                               std::vector<int64_t> sizes) {
  const auto word = models::dtype_word(values.scalar_type());
  if (word.empty()) {
    throw ConfigError(fmt::format("checkpoint: {} is {}, which checkpoints do not hold", name,
                                  c10::toString(values.scalar_type())));
  }
  return {name, std::string(word), std::move(sizes)};
}

// "exp_avg" and 3 of "exp_avg.3".
std::pair<std::string, int64_t> split_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  return {name.substr(0, dot), std::stoll(name.substr(dot + 1))};
}

// State of one number a shard is not cut: how many updates it has had.
bool is_count(const at::Tensor& tensor) { return tensor.scalar_type() == at::kLong; }

// Part `index` of `count` even parts.
StateSlice part_of(const StateSlice& whole, int64_t index, int64_t count) {
  const int64_t begin = whole.slice.length * index / count, end = whole.slice.length * (index + 1) / count;
  StateSlice part = whole;
  part.slice.offset += begin;
  part.slice.length = end - begin;
  part.values = whole.values.narrow(0, begin, end - begin);
  return part;
}

}  // namespace

TrainingState::TrainingState(fsdp::ShardedModule& model, optim::AdamW& optimizer)
    : model_(model), optimizer_(optimizer) {
  all();  // refuses what cannot be saved now, not at the first save
}

std::vector<StateSlice> TrainingState::all() const {
  std::vector<StateSlice> result;
  const auto slices = model_.slices();
  for (const auto& slice : slices) {
    result.push_back(
        {{info_of("weights/" + slice.name, slice.values, slice.sizes), slice.offset, slice.values.numel()},
         slice.values});
  }
  for (const auto& [name, tensor] : optimizer_.state()) {
    if (is_count(tensor)) continue;
    const auto [word, index] = split_name(name);
    for (const auto& slice : slices) {
      if (slice.shard_index != index) continue;
      const at::Tensor values = tensor.detach().narrow(0, slice.shard_offset, slice.values.numel());
      result.push_back(
          {{info_of(word + "/" + slice.name, values, slice.sizes), slice.offset, values.numel()}, values});
    }
  }
  for (const auto& [name, buffer] : model_.buffers()) {
    result.push_back({{info_of("buffers/" + name, buffer, buffer.sizes().vec()), 0, buffer.numel()},
                      buffer.detach().view({-1})});
  }
  std::erase_if(result, [](const StateSlice& slice) { return slice.slice.length == 0; });
  return result;
}

std::vector<StateSlice> TrainingState::share() const {
  const comm::Mesh& mesh = model_.mesh();
  const int64_t replica = mesh.rank() / mesh.shard_size(), num_replicas = mesh.replicate_size();
  std::vector<StateSlice> result;
  for (const StateSlice& whole : all()) {
    const bool is_buffer = whole.slice.tensor.name.starts_with("buffers/");
    if (is_buffer && mesh.rank() != 0) continue;
    result.push_back(is_buffer ? whole : part_of(whole, replica, num_replicas));
  }
  return result;
}

Json TrainingState::updates() const {
  std::map<int64_t, int64_t> by_shard;
  for (const auto& [name, tensor] : optimizer_.state()) {
    if (is_count(tensor)) by_shard[split_name(name).second] = tensor.item<int64_t>();
  }
  Json result = Json::object();
  for (const auto& [name, shard_index] : model_.shard_indices()) {
    if (shard_index >= 0) result[name] = by_shard.at(shard_index);
  }
  return result;
}

void TrainingState::set_updates(const Json& updates) {
  std::map<int64_t, int64_t> by_shard;
  for (const auto& [name, shard_index] : model_.shard_indices()) {
    if (shard_index < 0) continue;
    if (!updates.contains(name))
      throw ConfigError(fmt::format("checkpoint: no count of updates for {}", name));
    const auto count = updates.at(name).get<int64_t>();
    const auto [known, is_new] = by_shard.try_emplace(shard_index, count);
    if (!is_new && known->second != count) {
      throw ConfigError(
          fmt::format("checkpoint: {} has had {} updates and another parameter of its unit {}: wrap "
                      "the model as it was when the checkpoint was saved (sharding.wrap)",
                      name, count, known->second));
    }
  }
  for (const auto& [name, tensor] : optimizer_.state()) {
    if (is_count(tensor)) tensor.fill_(by_shard.at(split_name(name).second));
  }
}

}  // namespace lockstep::train
