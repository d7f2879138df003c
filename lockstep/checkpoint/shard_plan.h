// How one rank's slices lie in its file, which is a safetensors file that any reader of the format
// opens: each slice is a tensor of one dim, named "<tensor>[<offset>:<end>]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/checkpoint/manifest.h"

namespace lockstep::checkpoint {

// A contiguous run of elements of a tensor.
struct Slice {
  TensorInfo tensor;
  int64_t offset = 0, length = 0;  // elements of the flattened tensor

  int64_t num_bytes() const;
};

// Planned once, as ranks keep their slices: every save fills the same image of the file anew.
class ShardPlan {
 public:
  // Lays out `slices` after a header. CHECKs that their dtypes are known.
  ShardPlan(const std::vector<Slice>& slices, int rank);

  int64_t num_bytes() const { return num_bytes_; }
  // Writes the header to the front of `image` [num_bytes()]; the slices' places are the caller's to fill.
  void write_header(std::span<std::byte> image) const;
  // Byte of the image where slice i begins, aligned to its elements.
  int64_t position(size_t i) const { return info_.slices[order_[i]].position; }

  // For the manifest; the hash is the caller's to add.
  const ShardInfo& info() const { return info_; }

 private:
  ShardInfo info_;             // slices in the order of the file
  std::vector<size_t> order_;  // by slice: its place in info_.slices
  std::string header_;         // length word and JSON
  int64_t num_bytes_ = 0;
};

}  // namespace lockstep::checkpoint
