#include "lockstep/fsdp/shard_layout.h"

#include <algorithm>

namespace lockstep::fsdp {

ShardLayout::ShardLayout(std::vector<ParameterLayout> parameters, int num_shards, int64_t alignment)
    : parameters_(std::move(parameters)), num_shards_(num_shards) {
  int64_t end = 0;
  for (auto& parameter : parameters_) {
    const int64_t gap = end > 0 && alignment > 1 ? 1 : 0;
    parameter.flat_offset = (end + gap + alignment - 1) / alignment * alignment;
    end = parameter.flat_offset + parameter.numel;
    numel_ += parameter.numel;
  }
  shard_numel_ = (end + num_shards - 1) / num_shards;
}

std::vector<ShardSlice> ShardLayout::slices_of(int shard) const {
  const int64_t begin = shard * shard_numel_;
  const int64_t end = begin + shard_numel_;
  std::vector<ShardSlice> slices;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& parameter = parameters_[i];
    const int64_t from = std::max(begin, parameter.flat_offset);
    const int64_t to = std::min(end, parameter.flat_offset + parameter.numel);
    if (from < to) slices.push_back({i, from - parameter.flat_offset, from - begin, to - from});
  }
  return slices;
}

}  // namespace lockstep::fsdp
