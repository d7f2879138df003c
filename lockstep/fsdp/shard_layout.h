// How the parameters of one unit lie in its flat buffer, and which part each rank holds.
//
// The parameters, flattened and in order, make one vector of P elements; it is padded with
// zeros to W * S, S = ceil(P / W), and rank r holds [r * S, (r + 1) * S). So a shard cuts
// across parameters, and every rank holds the same number of elements whatever divides
// what. (The flat parameter of PyTorch's FSDP: Zhao et al. 2023, arXiv:2304.11277.)
//
// With an alignment each parameter starts at a multiple of it, after a gap of zeros, an element at least,
// that counts in P but belongs to no parameter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::fsdp {

struct ParameterLayout {
  std::string name;  // in named_parameters() of the root
  std::vector<int64_t> sizes;
  int64_t numel = 0;
  int64_t flat_offset = 0;  // of its first element in the unit's vector
};

// The part of a parameter that lies in one shard.
struct ShardSlice {
  size_t parameter = 0;          // index into ShardLayout::parameters()
  int64_t parameter_offset = 0;  // first element, in the flattened parameter
  int64_t shard_offset = 0;      // the same element, in the shard
  int64_t length = 0;
};

class ShardLayout {
 public:
  // Sets each flat_offset. `alignment` in elements.
  ShardLayout(std::vector<ParameterLayout> parameters, int num_shards, int64_t alignment = 1);

  const std::vector<ParameterLayout>& parameters() const { return parameters_; }
  int64_t numel() const { return numel_; }                             // of the parameters, without gaps
  int64_t shard_numel() const { return shard_numel_; }                 // S
  int64_t padded_numel() const { return shard_numel_ * num_shards_; }  // W * S
  std::vector<ShardSlice> slices_of(int shard) const;

 private:
  std::vector<ParameterLayout> parameters_;
  int num_shards_;
  int64_t numel_ = 0;
  int64_t shard_numel_ = 0;
};

}  // namespace lockstep::fsdp
